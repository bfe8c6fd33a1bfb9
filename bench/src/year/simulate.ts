// A year of a gateway that sells the same number of lockers every day, locker by locker and day by day.

import { KINDS, type Kind, QUOTES_PER_PURCHASE, UNPAID_QUOTE_DAYS } from './customers.ts'

const DAYS = 365
const DAYS_OF_A_MONTH = DAYS / 12

/** All of it since the first day, at the end of a day. */
export interface Counts {
  lockers: number
  /** Quotes that are stored. */
  quotes: number
  files: number
  storedBytes: number
  statementsOfSmall: number
  statementsOfLarge: number
  /** With one for each statement, within the limit of each receipt. */
  anchors: number
}

/** On this day alone. */
export interface Day {
  quotes: number
  purchases: number
  uploads: number
  statements: number
  reads: number
}

export interface Month {
  counts: Counts
  /** The last day of the month. */
  day: Day
}

export interface Year {
  months: Month[]
  lockerDays: number
}

export function simulateYear({
  lockers,
  anchorsPerDay,
  random,
}: {
  lockers: number
  anchorsPerDay: number
  random: () => number
}): Year {
  const days = Array.from({ length: DAYS }, emptyDay)
  for (let locker = 0; locker < lockers; locker++)
    liveOn(days, Math.floor((locker * DAYS) / lockers), kindOf(random()), anchorsPerDay, random)
  readOn(days, random)
  return { months: monthsOf(days), lockerDays: days.reduce((sum, _, day) => sum + (lockers * (day + 1)) / DAYS, 0) }
}

interface Happened extends Day {
  newFiles: number
  newBytes: number
  ofSmall: number
  ofLarge: number
  anchors: number
}

function emptyDay(): Happened {
  const none = { quotes: 0, purchases: 0, uploads: 0, statements: 0, reads: 0 }
  return { ...none, newFiles: 0, newBytes: 0, ofSmall: 0, ofLarge: 0, anchors: 0 }
}

function kindOf(share: number): Kind {
  let rest = share
  for (const kind of KINDS) {
    if (rest < kind.share) return kind
    rest -= kind.share
  }
  return KINDS[0] as Kind
}

/** Files from which on a statement shares most of its list with the one before. */
const LARGE_FROM = 700

function liveOn(days: Happened[], bought: number, kind: Kind, anchorsPerDay: number, random: () => number): void {
  let files = 0
  for (let day = bought; day < DAYS; day++) {
    const today = days[day] as Happened
    const isFirst = day === bought
    const changes = isFirst ? kind.firstFiles : poisson(kind.changesPerDay, random)
    const added = isFirst ? changes : portion(changes, kind.newShare, random)
    const statements = isFirst ? 1 : Math.min(changes, poisson(kind.statementsPerDay, random))
    files += added
    if (isFirst) {
      today.purchases++
      today.quotes += QUOTES_PER_PURCHASE
    }
    today.uploads += changes
    today.newFiles += added
    today.newBytes += added * kind.fileBytes
    today.statements += statements
    if (files < LARGE_FROM) today.ofSmall += statements
    else today.ofLarge += statements
    today.anchors += Math.min(statements, anchorsPerDay)
    if (kind.changesPerDay === 0) return
  }
}

/** Reads change nothing, so those of all lockers of a kind are drawn together. */
function readOn(days: readonly Happened[], random: () => number): void {
  let lockers = 0
  for (const day of days) {
    lockers += day.purchases
    for (const kind of KINDS) day.reads += poisson(lockers * kind.share * kind.readsPerDay, random)
  }
}

function monthsOf(days: readonly Happened[]): Month[] {
  const counts: Counts = {
    lockers: 0,
    quotes: 0,
    files: 0,
    storedBytes: 0,
    statementsOfSmall: 0,
    statementsOfLarge: 0,
    anchors: 0,
  }
  const months: Month[] = []
  days.forEach((day, index) => {
    const swept = days[index - UNPAID_QUOTE_DAYS]
    counts.lockers += day.purchases
    counts.quotes += day.quotes - day.purchases - (swept ? swept.quotes - swept.purchases : 0)
    counts.files += day.newFiles
    counts.storedBytes += day.newBytes
    counts.statementsOfSmall += day.ofSmall
    counts.statementsOfLarge += day.ofLarge
    counts.anchors += day.anchors
    if (index + 1 >= Math.round((months.length + 1) * DAYS_OF_A_MONTH)) months.push({ counts: { ...counts }, day })
  })
  return months
}

/** Exact for small means; from there on a normal one that is rounded. */
function poisson(mean: number, random: () => number): number {
  if (mean === 0) return 0
  if (mean > 20) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > limit; product *= random()) count++
  return count
}

/** How many of `count` are of a share of all. */
function portion(count: number, share: number, random: () => number): number {
  const mean = count * share
  const whole = Math.floor(mean)
  return whole + (random() < mean - whole ? 1 : 0)
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
