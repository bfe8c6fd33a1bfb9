// Which requests a process takes on. One that is taken must be served in time, so what is too much is refused at once
// (T-89). Requests under way count for their first second: those that wait for a client, a provider or a chain are
// cheap, and must not keep others out.
//
// How many there may be follows from how long it takes until it is a request's turn: at the event loop, and at the
// database where there is one. A single long wait is no sign: it may be one large answer. When every wait is long for a
// while, requests arrive faster than they are served; then fewer are taken until it is quick again, and in each turn of
// the event loop only those that it reaches soon: the others have waited for it already.

/** Whether a request is taken; if so, call the function when its answer has ended. */
export type Admit = () => (() => void) | null

interface AdmissionOptions {
  /** Calls back when the event loop has come round. */
  afterLoop?: (done: () => void) => void
  /** Calls back when whatever was waiting elsewhere before has had its turn. */
  afterTurn?: (done: () => void) => void
  /** Milliseconds, of a clock that never jumps. */
  now?: () => number
}

const WINDOW_MS = 100
/** A request counts for this many windows. */
const WINDOWS = 10
/** A refusal takes a turn or two, and must not take 50 ms. */
const LONG_TURN_MS = 25
/** A database far away is not a busy one. */
const TIMES_THE_QUICKEST = 3
const FEWER = 0.8
const MORE = 1.1
/** So many are always taken: on a machine that is busy with other things every turn may be long. */
const MIN = 32

/** `max` is the most there may ever be; null where it is 0, and all are taken. */
export function createAdmission(
  max: number,
  { now = monotonic, afterLoop = setImmediate, afterTurn }: AdmissionOptions = {},
): Admit | null {
  if (max === 0) return null
  /** Requests under way by the window in which they came. */
  const underWay = new Array<number>(WINDOWS).fill(0)
  let total = 0
  let limit = max
  let window = windowAt(now())
  let shortestTurn = Number.POSITIVE_INFINITY
  let quickest = Number.POSITIVE_INFINITY
  let turnStart: number | null = null
  let loopStart: number | null = null
  let takenInLoop = 0
  let isBehind = false

  /** Once for each window that has passed. What nothing has told of yet stays as it is while a turn is not over. */
  function moveOn(current: number): void {
    const isKnown = shortestTurn < Number.POSITIVE_INFINITY
    if (isKnown || turnStart === null) {
      isBehind = isKnown && shortestTurn > Math.max(LONG_TURN_MS, TIMES_THE_QUICKEST * quickest)
      limit = isBehind ? Math.min(max, Math.max(MIN, Math.min(limit, total) * FEWER)) : Math.min(max, limit * MORE + 1)
      shortestTurn = Number.POSITIVE_INFINITY
    }
    const passed = Math.min(current - window, WINDOWS)
    for (let i = 1; i <= passed; i++) {
      const place = (window + i) % WINDOWS
      total -= underWay[place] as number
      underWay[place] = 0
    }
    window = current
  }

  function noteLoop(startedAt: number): void {
    loopStart = startedAt
    takenInLoop = 0
    afterLoop(() => {
      loopStart = null
    })
  }

  function noteTurn(startedAt: number): void {
    turnStart = startedAt
    let open = afterTurn ? 2 : 1
    const end = () => {
      if (--open > 0) return
      shortestTurn = Math.min(shortestTurn, now() - startedAt)
      quickest = Math.min(quickest, shortestTurn)
      turnStart = null
    }
    afterLoop(end)
    afterTurn?.(end)
  }

  return () => {
    const time = now()
    const current = windowAt(time)
    if (current > window) moveOn(current)
    if (loopStart === null) noteLoop(time)
    if (turnStart === null) noteTurn(time)
    const isLate = isBehind && takenInLoop >= MIN && time - loopStart! > LONG_TURN_MS
    if (total >= limit || isLate) return null
    takenInLoop++
    const place = current % WINDOWS
    underWay[place] = (underWay[place] as number) + 1
    total++
    return () => {
      if (window - current >= WINDOWS) return // It counts no more.
      underWay[place] = (underWay[place] as number) - 1
      total--
    }
  }
}

function windowAt(time: number): number {
  return Math.floor(time / WINDOW_MS)
}

function monotonic(): number {
  return performance.now()
}
