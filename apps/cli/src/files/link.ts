import { type PublicLink, publicUrl } from '@svc/sdk'
import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  const link = program.command('link').description('what opens the public link of the locker')
  link
    .command('show', { isDefault: true })
    .description('show it, as `svc link` alone does')
    .action(async (_: object, command: Command) => show(await open(command)))
  link
    .command('rotate')
    .description('make a new link; the old one never works again; asks first')
    .action(async (_: object, command: Command) => rotate(await open(command)))
  link
    .command('close')
    .description('let nobody read through it')
    .action(async (_: object, command: Command) => change(await open(command), 'close'))
  link
    .command('open')
    .description('open it again as it was')
    .action(async (_: object, command: Command) => change(await open(command), 'open'))
}

async function show(session: Session): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  report(session, locker.locker_id, await client.publicLink(locker, session.world.signal))
}

async function rotate(session: Session): Promise<void> {
  const locker = await session.locker()
  const of = locker.name ?? locker.locker_id
  if (!(await session.confirm(`Make a new public link of ${of}, and end the old one for good?`)))
    throw new Failure('nothing was changed')
  await change(session, 'rotate')
}

async function change(session: Session, action: 'rotate' | 'close' | 'open'): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  report(session, locker.locker_id, await client.changePublicLink(locker, action, session.world.signal))
}

function report({ output, gateway }: Session, locker_id: string, { status, id }: PublicLink): void {
  const url = id === null ? null : publicUrl(gateway, id, 'NAME').replace(/NAME$/, '<name>')
  output.result({ locker_id, status, id, url }, () => url ?? 'closed: `svc link open` opens it as it was')
}
