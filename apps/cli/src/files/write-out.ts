import { chunksOf } from '@svc/sdk'
import { written } from '../output/output.ts'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'

/** Writes a file to the standard output. Its hash is checked at the end: if it is wrong, the exit code says so. */
export async function writeOut(
  session: Session,
  locker: NamedLocker,
  filename: string,
  isMember: boolean,
): Promise<void> {
  const { signal, stdout } = session.world
  const client = await (isMember ? session.lockerClient(locker) : session.client())
  const { stream } = await (isMember
    ? client.get(locker, filename, { signal })
    : client.getPublicly(locker.receipt_id, filename, { signal }))
  for await (const chunk of chunksOf(stream)) await written(stdout, chunk)
}
