// Who uses the simulated gateway. The shares and rates are assumptions: change them to yours.

export interface Kind {
  name: string
  /** Of all lockers. */
  share: number
  /** Files stored on the first day. */
  firstFiles: number
  /** Files stored or replaced, and statements made, on a later day; on average. */
  changesPerDay: number
  statementsPerDay: number
  /** Of the changes, those that add a file. */
  newShare: number
  fileBytes: number
  /** Reads by links a day, while it is young and later. */
  readsPerDay: number
}

export const KINDS: readonly Kind[] = [
  {
    name: 'archives: filled once, read now and then',
    share: 0.6,
    firstFiles: 40,
    changesPerDay: 0,
    statementsPerDay: 0,
    newShare: 0,
    fileBytes: 4_000_000,
    readsPerDay: 0.2,
  },
  {
    name: 'people: a few files on most days, a statement about them',
    share: 0.37,
    firstFiles: 100,
    changesPerDay: 3,
    statementsPerDay: 0.7,
    newShare: 0.5,
    fileBytes: 1_000_000,
    readsPerDay: 5,
  },
  {
    name: 'programs: files all day, a statement every hour',
    share: 0.03,
    firstFiles: 500,
    changesPerDay: 100,
    statementsPerDay: 24,
    newShare: 0.1,
    fileBytes: 50_000,
    readsPerDay: 200,
  },
]

/** Quotes for each one that is paid; those that are not are deleted after `UNPAID_QUOTE_DAYS`. */
export const QUOTES_PER_PURCHASE = 5
export const UNPAID_QUOTE_DAYS = 30

/** The busiest hour has this many times the requests of an average one. */
export const PEAK = 4

/** What the gateway charges for a locker in USD, and what a SOL is worth: for the share that fees have in it. */
export const USD = { locker: 0.25, SOL: 150 }

export const LAMPORTS_PER_ANCHOR = 5_000
