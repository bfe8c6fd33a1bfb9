import { lockerId } from '@svc/protocol/ids'

/** How a locker is named: by its own id where a path asks for it, by its receipt's elsewhere. */
export interface Locker {
  locker_id: string
  receipt_id: string
}

/** A locker follows from its receipt: nobody need be asked. */
export function lockerOf(receipt_id: string): Locker {
  return { locker_id: lockerId(receipt_id), receipt_id }
}
