import type { LockerSession } from './session.ts'

export function Proof(_: { session: LockerSession }) {
  return null
}
