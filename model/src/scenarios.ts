// What is explored: bounds for the gate, and larger ones for the night.

import type { Bounds } from './state.ts'

const NONE = {
  quotes: 0,
  payments: 0,
  statements: 0,
  anchors: 0,
  crash: 0,
  restore: 0,
  fork: 0,
  drop: 0,
  expire: 0,
} as const
const ONE_MACHINE = { ...NONE, processes: 2, machines: 1, docs: [] } as const satisfies Bounds
const TWO_MACHINES = { ...ONE_MACHINE, machines: 2 } as const
const QUOTED = { payments: 1, docs: ['quote q1', 'quote q2'] }
const ATTESTED = { docs: ['statement 1p0@0 1 '] }

export const SCENARIOS: Readonly<Record<string, Bounds>> = {
  purchases: { ...ONE_MACHINE, ...QUOTED, crash: 1, restore: 1, fork: 1 },
  'payments of one quote': { ...ONE_MACHINE, payments: 2, docs: ['quote q1'], fork: 1 },
  'purchases on two machines': { ...TWO_MACHINES, quotes: 1, payments: 1, restore: 1 },
  statements: { ...ONE_MACHINE, statements: 2, crash: 1, restore: 1 },
  'statements on two machines': { ...TWO_MACHINES, ...ATTESTED, statements: 2, restore: 1 },
  anchors: { ...ONE_MACHINE, ...ATTESTED, anchors: 2, crash: 1, fork: 1, expire: 1 },
  'anchors of a restored database': {
    ...ONE_MACHINE,
    ...ATTESTED,
    anchors: 2,
    processes: 1,
    crash: 1,
    restore: 1,
    expire: 1,
  },
}

export const AT_NIGHT: Readonly<Record<string, Bounds>> = {
  purchases: { ...ONE_MACHINE, ...QUOTED, quotes: 2, payments: 2, restore: 1 },
  'purchases on two machines': { ...TWO_MACHINES, ...QUOTED, crash: 1, restore: 1 },
  statements: { ...ONE_MACHINE, statements: 3, crash: 1, restore: 1 },
  'statements on two machines': { ...TWO_MACHINES, statements: 2, restore: 1 },
  anchors: { ...ONE_MACHINE, ...ATTESTED, anchors: 2, drop: 1, fork: 1, expire: 1 },
  'anchors of a restored database': { ...ONE_MACHINE, ...ATTESTED, anchors: 2, restore: 1, fork: 1, expire: 1 },
}
