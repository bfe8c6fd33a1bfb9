// Slow providers: the gateway stores the bytes until Arweave or Filecoin has them.

import { setTimeout } from 'node:timers/promises'
import { type LockerRecord, lockerRecord } from '@svc/api/lockers'
import type { Client } from '@svc/sdk'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000

/** After an upload: reports the deliveries in progress and how to check them later; with --wait, waits for the end. */
export async function reportDeliveries(session: Session, client: Client, { locker_id }: NamedLocker): Promise<void> {
  const { output, mayWait, host } = session
  const { signal } = host
  const read = async () => (await client.call(lockerRecord, { params: { locker_id }, signal })).body
  // The files are stored even if their delivery cannot be reported.
  let record = await read().catch(() => null)
  signal.throwIfAborted()
  if (!record) return
  const waiting = waitingText(record)
  if (waiting !== null) {
    output.note(`${waiting}. They are safe at the gateway, and can be read and attested in the meantime.`)
    if (!mayWait)
      output.note(
        'The delivery continues automatically. `svc stat NAME` shows when a file has arrived; --wait waits for it.',
      )
  }
  for (
    let pause = FIRST_PAUSE_MS;
    mayWait && waitingText(record) !== null;
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
  ) {
    await setTimeout(pause, undefined, { signal })
    record = await read()
  }
  if (waiting !== null && mayWait) output.note(`All of them have arrived at ${shown(record.provider)}.`)
  const { held_back } = record.settling ?? {}
  if (held_back)
    output.warn(
      `the terms do not cover ${counted(held_back.files, 'file')} (${bytesText(held_back.bytes)}): they stay at the gateway, and are not moved to ${shown(record.provider)}`,
    )
}

/** `2 files (1.20 MiB) on the way to arweave` */
function waitingText({ settling, provider }: LockerRecord): string | null {
  if (!settling || settling.files === 0) return null
  return `${counted(settling.files, 'file')} (${bytesText(settling.bytes)}) on the way to ${shown(provider)}`
}
