import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  program
    .command('revoke')
    .description(
      'end all shares, S3 keys, temporary links and upload sessions of the locker, including your own; asks first',
    )
    .action(async (_: object, command: Command) => revoke(await open(command)))
}

async function revoke(session: Session): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const { locker_id } = locker
  const of = locker.name ?? locker_id
  if (!(await session.confirm(`End all shares, S3 keys, temporary links and upload sessions of ${of}?`)))
    throw new Failure('nothing was revoked')
  await (await session.lockerClient(locker)).revokeAccess(locker, host.signal)
  output.result(
    { locker_id, revoked: true },
    () => 'all shares, S3 keys, temporary links and upload sessions have ended',
  )
  output.note('The public link and the keys of operators still work: see `svc link` and `svc operators`.')
}
