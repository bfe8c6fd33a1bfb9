// Metrics that are read from the database.

import type { AttestHealth } from '@svc/api/internal-attestations'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../context.ts'
import { type ReceivedSum, receivedSums } from '../../db/received-sums.ts'
import { logStatus } from '../../publication/log-anchors/log-status.ts'
import { attestationCounts } from '../attest-health.ts'
import { type BudgetState, budgetStates, type UnpublishedCounts, unpublishedCounts } from '../budget-states.ts'
import { countOverTerms } from '../lockers/over-terms.ts'
import { countMovingObjects, countObjects, countRows, watchedQuotes } from '../store.ts'
import { budgetFamilies } from './budgets.ts'
import { type LogStatus, logFamilies } from './log.ts'
import { byLabel, type Family } from './text.ts'

type AttestationCounts = Pick<AttestHealth, 'counts' | 'oldest_nonfinal_age_sec'>

/** Lockers over their terms, by the term that they exceed. */
interface OverTermsCounts {
  bytes: number
  files: number
  egress: number
  time: number
}

interface Numbers {
  /** Unix seconds. */
  readAt: number
  attestations: AttestationCounts
  jobs: Awaited<ReturnType<Context['queue']['counts']>>
  receipts: number
  lockers: number
  overTerms: OverTermsCounts
  objects: { writing: number; held: number; released: number }
  movingObjects: Awaited<ReturnType<typeof countMovingObjects>>
  watched: Awaited<ReturnType<typeof watchedQuotes>>
  payments: readonly ReceivedSum[]
  budgets: readonly BudgetState[]
  unpublished: UnpublishedCounts
  log: LogStatus
}

/** Runs one query after the other, so that a scrape never uses more than one connection. */
export async function readNumbers(context: Context): Promise<Numbers> {
  const { db } = context.database
  return {
    readAt: unixNow(context),
    attestations: await attestationCounts(context),
    jobs: await context.queue.counts(),
    receipts: await countRows(db, 'receipts'),
    lockers: await countRows(db, 'lockers'),
    overTerms: await countOverTerms(db, isoSeconds(unixNow(context))),
    objects: await objectsByState(db),
    movingObjects: await countMovingObjects(db),
    watched: await watchedQuotes(db),
    payments: await receivedSums(db),
    budgets: await budgetStates(context),
    unpublished: await unpublishedCounts(context),
    log: await logStatus(context),
  }
}

type Db = Context['database']['db']

async function objectsByState(db: Db): Promise<Numbers['objects']> {
  const counts = { writing: 0, held: 0, released: 0 }
  for (const { state, count } of await countObjects(db)) counts[state] = count
  return counts
}

export function numberFamilies(numbers: Numbers): Family[] {
  const { attestations, jobs, receipts, lockers, objects, payments } = numbers
  const movingObjects = numbers.movingObjects.filter(({ is_held_back }) => !is_held_back)
  const heldBack = numbers.movingObjects.filter(({ is_held_back }) => is_held_back)
  return [
    {
      name: 'svc_database_read_timestamp_seconds',
      type: 'gauge',
      help: 'Time when the values from the database were read.',
      samples: [{ value: numbers.readAt }],
    },
    {
      name: 'svc_attestations',
      type: 'gauge',
      help: 'Attestations by status.',
      samples: byLabel('status', attestations.counts),
    },
    {
      name: 'svc_attestation_oldest_nonfinal_age_seconds',
      type: 'gauge',
      help: 'How long the oldest attestation that is not final has had its status; 0 if all are final.',
      samples: [{ value: attestations.oldest_nonfinal_age_sec ?? 0 }],
    },
    {
      name: 'svc_jobs',
      type: 'gauge',
      help: 'Jobs by kind and state.',
      samples: Object.entries(jobs).flatMap(([kind, { dead: _, ...states }]) => byLabel('state', states, { kind })),
    },
    {
      name: 'svc_dead_letters',
      type: 'gauge',
      help: 'Jobs that failed permanently.',
      samples: Object.entries(jobs).map(([kind, { dead }]) => ({ labels: { kind }, value: dead })),
    },
    { name: 'svc_receipts_total', type: 'counter', help: 'Receipts issued.', samples: [{ value: receipts }] },
    { name: 'svc_lockers_total', type: 'counter', help: 'Lockers opened.', samples: [{ value: lockers }] },
    {
      name: 'svc_lockers_over_terms',
      type: 'gauge',
      help: 'Lockers that use more than was bought, or have files after their end.',
      samples: byLabel('term', { ...numbers.overTerms }),
    },
    { name: 'svc_objects', type: 'gauge', help: 'Stored objects by state.', samples: byLabel('state', objects) },
    {
      name: 'svc_settling_objects',
      type: 'gauge',
      help: 'Objects that are being moved to a slow provider.',
      samples: movingObjects.map(({ provider, count }) => ({ labels: { provider }, value: count })),
    },
    {
      name: 'svc_settling_oldest_age_seconds',
      type: 'gauge',
      help: 'How long the oldest object has been on its way to a slow provider.',
      samples: movingObjects.map(({ provider, oldest }) => ({ labels: { provider }, value: numbers.readAt - oldest })),
    },
    {
      name: 'svc_settling_held_back',
      type: 'gauge',
      help: 'Objects beyond the terms of their lockers, which stay at the gateway.',
      samples: heldBack.map(({ provider, count }) => ({ labels: { provider }, value: count })),
    },
    {
      name: 'svc_payments_received_total',
      type: 'counter',
      help: 'Received for purchases, in atomic units of the asset.',
      samples: payments.map(({ network, asset, received }) => ({
        labels: { network, asset },
        value: Number(received),
      })),
    },
    {
      name: 'svc_watched_quotes',
      type: 'gauge',
      help: 'Quotes that the gateway watches for payments by Solana Pay codes.',
      samples: [{ value: numbers.watched.count }],
    },
    {
      name: 'svc_watched_quotes_overdue_seconds',
      type: 'gauge',
      help: 'How long the next check of a watched quote is overdue.',
      samples: [{ value: Math.max(0, numbers.readAt - (numbers.watched.due_at ?? numbers.readAt)) }],
    },
    ...budgetFamilies(numbers.budgets, numbers.unpublished),
    ...logFamilies(numbers.log),
  ]
}
