// Loaded into a gateway before it starts: makes its clock jump at a given moment, as the clock of a machine may. The
// clock is then wrong in all threads; timers and `performance.now()` are unaffected.

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
