// The views, in the order of the navigation.

import type { ComponentType } from "preact";
import { Lanes } from "./lanes/Lanes";
import { Playground } from "./playground/Playground";
import type { ViewProps } from "./props";
import { Schedules } from "./schedules/Schedules";
import { Service } from "./service/Service";
import { Simulations } from "./simulations/Simulations";
import { Spreads } from "./spreads/Spreads";
import { Stages } from "./stages/Stages";

interface View {
  path: string;
  name: string;
  View: ComponentType<ViewProps>;
}

export const VIEWS: View[] = [
  { path: "playground", name: "Playground", View: Playground },
  { path: "schedules", name: "Schedules", View: Schedules },
  { path: "spreads", name: "Spreads", View: Spreads },
  { path: "lanes", name: "Lanes", View: Lanes },
  { path: "stages", name: "Stages", View: Stages },
  { path: "simulations", name: "Simulations", View: Simulations },
  { path: "service", name: "Service", View: Service },
];
