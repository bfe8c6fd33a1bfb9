// Which requests a process takes on, and when it begins with them. One that is taken must be served in time, so what is
// too much is refused soon (T-89).
//
// Requests stand in line: a turn of the event loop begins with some of them only, so that the next requests and
// connections are noticed soon. A single long wait is no sign: it may be one large answer. When every request waits long
// for a while, at the line or at the database where there is one, they arrive faster than they are served. Then those
// that have waited too long are refused, and fewer are under way at once, until it is quick again.
//
// Requests under way count for their first second: those that wait for a client, a provider or a chain are cheap, and
// must not keep others out.

/** Calls `begin` when it is the request's turn: with what to call when its answer has ended, or null if it is refused. */
export type Admit = (begin: (release: (() => void) | null) => void) => void

interface AdmissionOptions {
  /** Calls back when the event loop has come round. */
  afterLoop?: (done: () => void) => void
  /** Calls back when whatever was waiting elsewhere before has had its turn. */
  afterTurn?: (done: () => void) => void
  /** Milliseconds, of a clock that never jumps. */
  now?: () => number
}

interface Waiting {
  since: number
  begin: (release: (() => void) | null) => void
}

/** For how long a turn of the event loop begins with requests. */
const TURN_MS = 5
const WINDOW_MS = 100
/** A request counts for this many windows. */
const WINDOWS = 10
/** A refusal must not take 50 ms. */
const LONG_WAIT_MS = 25
/** It is quick again when somebody waited for less than this share of a long wait. */
const SHORT = 0.4
/** A database far away is not a busy one. */
const TIMES_THE_QUICKEST = 3
const FEWER = 0.8
const MORE = 1.1
/** So many may always wait, and be under way: on a machine that is busy with other things every wait may be long. */
const MIN = 32
/** So many refusals in a second are a crowd: clients that wait as `Retry-After` says are not refused so often. */
const CROWD = 64
/** Of a crowd fewer are taken, and the others refused sooner: those that are taken do not hold up each other. */
const MIN_IN_A_CROWD = 6
const LONG_WAIT_IN_A_CROWD_MS = 10

/** `max` is the most there may ever be under way; null where it is 0, and all are taken at once. */
export function createAdmission(
  max: number,
  { now = monotonic, afterLoop = setImmediate, afterTurn }: AdmissionOptions = {},
): Admit | null {
  if (max === 0) return null
  /** Requests under way by the window in which they began. */
  const underWay = new Array<number>(WINDOWS).fill(0)
  let total = 0
  /** Refusals of the last second by window. */
  const refused = new Array<number>(WINDOWS).fill(0)
  let totalRefused = 0
  let limit = max
  let window = windowAt(now())
  let line: Waiting[] = []
  /** When the loop last came round, and so had noticed all that had arrived; null while it is idle. */
  let cameRoundAt: number | null = null
  let hasJoined = false
  /** In this window: the shortest wait in line, and at the database. */
  let shortestWait = Number.POSITIVE_INFINITY
  let shortestTurn = Number.POSITIVE_INFINITY
  let quickestTurn = Number.POSITIVE_INFINITY
  let isTurnOpen = false
  let isBehind = false

  function fewest(): number {
    return totalRefused > CROWD ? MIN_IN_A_CROWD : MIN
  }

  function longWait(): number {
    return totalRefused > CROWD ? LONG_WAIT_IN_A_CROWD_MS : LONG_WAIT_MS
  }

  /** Once for each window that has passed. */
  function moveOn(current: number): void {
    const isTurnKnown = shortestTurn < Number.POSITIVE_INFINITY
    const isTurnLong = isTurnKnown && shortestTurn > Math.max(longWait(), TIMES_THE_QUICKEST * quickestTurn)
    const isWaitLong = shortestWait < Number.POSITIVE_INFINITY && shortestWait > longWait() * (isBehind ? SHORT : 1)
    isBehind = isWaitLong
    if (isTurnLong || isWaitLong) limit = Math.min(max, Math.max(fewest(), Math.min(limit, total) * FEWER))
    // What the database has not answered yet says nothing.
    else if (isTurnKnown || !isTurnOpen) limit = Math.min(max, limit * MORE + 1)
    shortestWait = Number.POSITIVE_INFINITY
    shortestTurn = Number.POSITIVE_INFINITY
    const passed = Math.min(current - window, WINDOWS)
    for (let i = 1; i <= passed; i++) {
      const place = (window + i) % WINDOWS
      total -= underWay[place] as number
      underWay[place] = 0
      totalRefused -= refused[place] as number
      refused[place] = 0
    }
    window = current
  }

  function noteTurn(startedAt: number): void {
    if (!afterTurn || isTurnOpen) return
    isTurnOpen = true
    afterTurn(() => {
      shortestTurn = Math.min(shortestTurn, now() - startedAt)
      quickestTurn = Math.min(quickestTurn, shortestTurn)
      isTurnOpen = false
    })
  }

  /** Begins with those in line, in the time of one turn. */
  function comeRound(): void {
    const isIdle = !hasJoined && line.length === 0
    cameRoundAt = isIdle ? null : now()
    hasJoined = false
    if (cameRoundAt === null) return
    afterLoop(comeRound)
    let next = 0
    for (; next < line.length; next++) {
      const first = line[next] as Waiting
      const isTooMany = isLate(first) && line.length - next > fewest()
      if (now() - cameRoundAt >= TURN_MS && !isTooMany) break
      decide(first, isTooMany)
    }
    line = line.slice(next)
  }

  function isLate({ since }: Waiting): boolean {
    return isBehind && now() - since > longWait()
  }

  function decide(waiting: Waiting, isTooMany: boolean): void {
    const time = now()
    const current = windowAt(time)
    if (current > window) moveOn(current)
    const place = current % WINDOWS
    shortestWait = Math.min(shortestWait, time - waiting.since)
    noteTurn(time)
    if (total >= limit || isTooMany) {
      refused[place] = (refused[place] as number) + 1
      totalRefused++
      return void waiting.begin(null)
    }
    underWay[place] = (underWay[place] as number) + 1
    total++
    waiting.begin(() => {
      if (window - current >= WINDOWS) return // It counts no more.
      underWay[place] = (underWay[place] as number) - 1
      total--
    })
  }

  return (begin) => {
    const time = now()
    hasJoined = true
    if (cameRoundAt === null) {
      cameRoundAt = time
      afterLoop(comeRound)
    }
    // It may have arrived as soon as the loop had looked.
    const waiting = { since: cameRoundAt, begin }
    const isSoon = line.length === 0 && time - cameRoundAt < TURN_MS
    const isTooMany = line.length >= fewest() && isLate(waiting)
    if (isSoon || isTooMany) decide(waiting, isTooMany)
    else line.push(waiting)
  }
}

function windowAt(time: number): number {
  return Math.floor(time / WINDOW_MS)
}

function monotonic(): number {
  return performance.now()
}
