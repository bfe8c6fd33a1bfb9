// Decides which requests a process accepts, and when it starts them. An accepted request must be served in time, so
// excess requests are rejected early (T-89).
//
// Requests wait in a queue: a turn of the event loop starts only some of them, so that new requests and connections are
// noticed soon. A single long wait means nothing: it may be one large response. When every request waits long for a
// while, in the queue or at the database, requests arrive faster than they are served. Then those that waited too long
// are rejected, and fewer run at once, until waits are short again.
//
// A running request counts for its first second only: requests that wait for a client, a provider or a chain are cheap,
// and must not keep others out.

/**
 * Calls `begin` when the request may start, with the function to call when its answer has ended; with null when it is
 * rejected.
 */
export type Admit = (begin: (release: (() => void) | null) => void) => void

interface AdmissionOptions {
  /** Calls back after one round of the event loop. */
  afterLoop?: (done: () => void) => void
  /** Calls back after everything that was queued at the database has run. */
  afterTurn?: (done: () => void) => void
  /** Milliseconds of a monotonic clock. */
  now?: () => number
}

interface Waiting {
  since: number
  begin: (release: (() => void) | null) => void
}

/** How long a turn of the event loop starts requests. */
const TURN_MS = 5
const WINDOW_MS = 100
/** A request counts for this many windows. */
const WINDOWS = 10
/** A wait beyond this is long: even a rejected client must get its answer within 50 ms. */
const LONG_WAIT_MS = 25
/** Waits are short again when one of them is below this share of a long wait. */
const SHORT = 0.4
/** A turn of the database is long beyond this multiple of the quickest one: a distant database is not a busy one. */
const TIMES_THE_QUICKEST = 3
const FEWER = 0.8
const MORE = 1.1
/**
 * This many requests may always wait, and always run: on a machine that is busy with other work, every wait may be
 * long.
 */
const MIN = 32
/** This many rejections in a second are a crowd: clients that obey `Retry-After` are not rejected as often. */
const CROWD = 64
/** In a crowd fewer requests run, and the others are rejected sooner: the running ones do not delay each other. */
const MIN_IN_A_CROWD = 6
const LONG_WAIT_IN_A_CROWD_MS = 10

/** `max` is the largest number of running requests; null when it is 0, and all requests start immediately. */
export function createAdmission(
  max: number,
  { now = monotonic, afterLoop = setImmediate, afterTurn }: AdmissionOptions = {},
): Admit | null {
  if (max === 0) return null
  /** Running requests by the window in which they started. */
  const running = new Array<number>(WINDOWS).fill(0)
  let total = 0
  /** Rejections of the last second by window. */
  const refused = new Array<number>(WINDOWS).fill(0)
  let totalRefused = 0
  let limit = max
  let window = windowAt(now())
  let queue: Waiting[] = []
  /** When the event loop last noticed everything that had arrived; null while it is idle. */
  let checkedAt: number | null = null
  let hasJoined = false
  /** In this window: the shortest wait in the queue, and at the database. */
  let shortestWait = Number.POSITIVE_INFINITY
  let shortestTurn = Number.POSITIVE_INFINITY
  let quickestTurn = Number.POSITIVE_INFINITY
  let isTurnOpen = false
  let isBehind = false

  function minRunning(): number {
    return totalRefused > CROWD ? MIN_IN_A_CROWD : MIN
  }

  function longWait(): number {
    return totalRefused > CROWD ? LONG_WAIT_IN_A_CROWD_MS : LONG_WAIT_MS
  }

  /** Runs once for each window that has passed. */
  function advanceWindow(current: number): void {
    const isTurnKnown = shortestTurn < Number.POSITIVE_INFINITY
    const isTurnLong = isTurnKnown && shortestTurn > Math.max(longWait(), TIMES_THE_QUICKEST * quickestTurn)
    const isWaitLong = shortestWait < Number.POSITIVE_INFINITY && shortestWait > longWait() * (isBehind ? SHORT : 1)
    isBehind = isWaitLong
    if (isTurnLong || isWaitLong) limit = Math.min(max, Math.max(minRunning(), Math.min(limit, total) * FEWER))
    // A query that the database has not answered yet does not count.
    else if (isTurnKnown || !isTurnOpen) limit = Math.min(max, limit * MORE + 1)
    shortestWait = Number.POSITIVE_INFINITY
    shortestTurn = Number.POSITIVE_INFINITY
    const passed = Math.min(current - window, WINDOWS)
    for (let i = 1; i <= passed; i++) {
      const place = (window + i) % WINDOWS
      total -= running[place] as number
      running[place] = 0
      totalRefused -= refused[place] as number
      refused[place] = 0
    }
    window = current
  }

  function measureTurn(startedAt: number): void {
    if (!afterTurn || isTurnOpen) return
    isTurnOpen = true
    afterTurn(() => {
      shortestTurn = Math.min(shortestTurn, now() - startedAt)
      quickestTurn = Math.min(quickestTurn, shortestTurn)
      isTurnOpen = false
    })
  }

  /** Starts queued requests, for the time of one turn. */
  function startQueued(): void {
    const isIdle = !hasJoined && queue.length === 0
    checkedAt = isIdle ? null : now()
    hasJoined = false
    if (checkedAt === null) return
    afterLoop(startQueued)
    let next = 0
    for (; next < queue.length; next++) {
      const first = queue[next] as Waiting
      const isTooMany = isLate(first) && queue.length - next > minRunning()
      if (now() - checkedAt >= TURN_MS && !isTooMany) break
      decide(first, isTooMany)
    }
    queue = queue.slice(next)
  }

  function isLate({ since }: Waiting): boolean {
    return isBehind && now() - since > longWait()
  }

  function decide(waiting: Waiting, isTooMany: boolean): void {
    const time = now()
    const current = windowAt(time)
    if (current > window) advanceWindow(current)
    const place = current % WINDOWS
    shortestWait = Math.min(shortestWait, time - waiting.since)
    measureTurn(time)
    if (total >= limit || isTooMany) {
      refused[place] = (refused[place] as number) + 1
      totalRefused++
      return void waiting.begin(null)
    }
    running[place] = (running[place] as number) + 1
    total++
    waiting.begin(() => {
      if (window - current >= WINDOWS) return // It no longer counts.
      running[place] = (running[place] as number) - 1
      total--
    })
  }

  return (begin) => {
    const time = now()
    hasJoined = true
    if (checkedAt === null) {
      checkedAt = time
      afterLoop(startQueued)
    }
    // The request may have arrived right after the loop checked.
    const waiting = { since: checkedAt, begin }
    const isSoon = queue.length === 0 && time - checkedAt < TURN_MS
    const isTooMany = queue.length >= minRunning() && isLate(waiting)
    if (isSoon || isTooMany) decide(waiting, isTooMany)
    else queue.push(waiting)
  }
}

function windowAt(time: number): number {
  return Math.floor(time / WINDOW_MS)
}

function monotonic(): number {
  return performance.now()
}
