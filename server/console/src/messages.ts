// The messages of the contract that the page uses, as canonical proto JSON has them: durations are
// texts such as "600s", instants RFC 3339, and whole numbers of 64 bits texts.

export interface Kind {
  name: string;
  runTime?: string;
}

export interface Exclusion {
  dated?: { startTime: string; endTime: string };
  recurring?: { calendar: object; window: object };
  policy?: string;
}

export interface ScheduleSpec {
  period?: string;
  calendar?: { unit: string; timeZone: string };
  resolution?: string;
  anchorTime?: string;
  slotCount?: number;
  placement?: string;
  salt?: string;
  activeWindows?: object[];
  exclusions?: Exclusion[];
  kinds?: Kind[];
  kindSpacing?: string;
  [field: string]: unknown;
}

export interface Reference {
  name: string;
  version: number;
}

export type Schedule = { spec: ScheduleSpec } | { reference: Reference };

export interface Identity {
  fingerprint: string;
  runKeyRoot: string;
}

export interface ListedSchedule {
  reference: Reference;
  identity: Identity;
  spec: ScheduleSpec;
}

export interface Load {
  mean: number;
  fullestMedian: string;
  fullestP99: string;
}

export interface Description {
  identity: Identity;
  spec: ScheduleSpec;
  slotDuration: string;
  cycleStartTime: string;
  cycleEndTime: string;
  activeDuration: string;
  skippedRatio: number;
  deferredRatio: number;
  slotLoad?: Load;
  secondLoad?: Load;
  kinds: { name: string; offset: string; gapSlotCount: number; runBudget: string }[];
}

export interface Run {
  startTime: string;
  cycleIndex: string;
  runKey: string;
  runId: string;
}

export interface Assignment {
  identity: Identity;
  pieces: {
    slotIndex: number;
    slotOffset: string;
    cycleOffset: string;
    lastRun?: Run;
    nextRuns: Run[];
  }[];
  explanation: { canonicalId: string; hash?: string; bucket?: number; fraction?: number };
}

export interface Slot {
  slotIndex: number;
  cycleIndex: string;
  startTime: string;
  endTime: string;
}

export interface Predicate {
  predicate: { sql: string };
  sqlIndex?: { createStatements: string[] };
}

export interface Assignments {
  assignments: {
    resolution: string;
    slotIndexes: number[];
    slotOffsetTicks: string[];
    errors: { idIndex: string; allowed: string }[];
  };
}

export interface Migration {
  cutoverTime: string;
  path: string;
  advice: string;
  maxGapBound?: string;
  ids?: {
    lastOldUnixMillis: string[];
    firstNewUnixMillis: string[];
    movedRatio: number;
    observedMinGap?: string;
    observedMaxGap?: string;
    leftOutRunCount: string;
  };
}

export interface SpreadCounts {
  groupCount: string;
  partialGroupCount: string;
  quarantinedGroupCount: string;
  readyJobCount: string;
  leasedJobCount: string;
  returnedJobCount: string;
  settledJobCount: string;
  deadLetterCount: string;
  byteCount: string;
  consumerCount: string;
}

export interface Spread {
  spreadName: string;
  spec: { order: Record<string, unknown>; leaseDuration: string };
  state: string;
  epoch: string;
  counts: SpreadCounts;
  certificate?: Record<string, unknown>;
}

export interface ServerInfo {
  version: string;
  timeZoneDatabase: string;
  limits: { id: string; name: string; minValue: string; maxValue: string; unit: string }[];
}
