// The views, in the order of the navigation.

import type { ComponentType } from "preact";
import { Playground } from "./playground/Playground";
import { Schedules } from "./schedules/Schedules";
import { Service } from "./service/Service";
import { Spreads } from "./spreads/Spreads";

export interface ViewProps {
  params: URLSearchParams;
}

interface View {
  path: string;
  name: string;
  View: ComponentType<ViewProps>;
}

export const VIEWS: View[] = [
  { path: "playground", name: "Playground", View: Playground },
  { path: "schedules", name: "Schedules", View: Schedules },
  { path: "spreads", name: "Spreads", View: Spreads },
  { path: "service", name: "Service", View: Service },
];
