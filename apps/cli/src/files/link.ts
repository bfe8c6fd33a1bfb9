import { type PublicLink, publicUrl } from '@svc/sdk'
import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import type { Open, Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { aboutPublicLink } from './url.ts'

export function add(program: Command, open: Open): void {
  const link = program
    .command('link')
    .description('the public link, through which anyone can read every file of the locker')
    .addHelpText('after', `\n${ABOUT}`)
  link
    .command('show', { isDefault: true })
    .description('show it, as `svc link` alone does')
    .action(async (_: object, command: Command) => show(await open(command)))
  link
    .command('rotate')
    .description('replace the link; the old link never works again; asks first')
    .action(async (_: object, command: Command) => rotate(await open(command)))
  link
    .command('close')
    .description('close the link immediately, until `svc link open`')
    .action(async (_: object, command: Command) => change(await open(command), 'close'))
  link
    .command('open')
    .description('open the same link again')
    .action(async (_: object, command: Command) => change(await open(command), 'open'))
}

const ABOUT = `Anyone with the link can open every file in the locker. Its id is the receipt id until it is
rotated: once the locker is attested, the evidence at that id lists all file names, sizes and
hashes. A rotated link leads to no evidence, so its readers must know the file names.

Closing or rotating the link stops it immediately. Shares and temporary links work until they
expire or \`svc revoke\` ends them. The evidence at the receipt id stays public, with later
statements.`

const STAYS =
  'Shares and temporary links still work until they expire; `svc revoke` ends them. Evidence stays public' +
  ' at the receipt id, with all file names, sizes and hashes, including later statements.'

async function show(session: Session): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  report(session, locker, await client.publicLink(locker, session.host.signal))
}

async function rotate(session: Session): Promise<void> {
  const locker = await session.locker()
  const of = locker.name ?? locker.locker_id
  if (!(await session.confirm(`Make a new public link of ${of}, and end the old link permanently?`)))
    throw new Failure('nothing was changed')
  await change(session, 'rotate')
}

async function change(session: Session, action: 'rotate' | 'close' | 'open'): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  report(session, locker, await client.changePublicLink(locker, action, session.host.signal))
  if (action === 'close') session.output.note(`The link is closed. ${STAYS}`)
  if (action === 'rotate') session.output.note(`The old link no longer works. ${STAYS}`)
}

function report({ output, gateway }: Session, locker: NamedLocker, { status, id }: PublicLink): void {
  const { locker_id } = locker
  const url = id === null ? null : publicUrl(gateway, id, 'NAME').replace(/NAME$/, '<name>')
  output.result({ locker_id, status, id, url }, () => url ?? 'closed: `svc link open` opens the same link again')
  if (id !== null) output.note(aboutPublicLink(id, locker))
}
