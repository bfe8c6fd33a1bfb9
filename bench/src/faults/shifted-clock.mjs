// Loaded into a gateway before it starts: from a moment on, its clock is wrong. It is the clock of a machine that jumps,
// so it is wrong in all of its threads; timers and `performance.now()` go on as they do then.

const jumpMs = Number(process.env.CLOCK_JUMP_MS)
const jumpAt = Date.now() + Number(process.env.CLOCK_JUMP_AFTER_MS)
const RealDate = Date
const realNow = Date.now

function now() {
  const time = realNow()
  return time >= jumpAt ? time + jumpMs : time
}

globalThis.Date = class JumpingDate extends RealDate {
  constructor(...values) {
    if (values.length === 0) super(now())
    else super(...values)
  }
  static now() {
    return now()
  }
}
