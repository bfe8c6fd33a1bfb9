import { lockerId } from '@svc/protocol/ids'
import { nameObjection } from '@svc/sdk/locker-names'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { short, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'
import {
  findLocker,
  forgetLocker,
  isReceiptId,
  type KnownLocker,
  knownLockers,
  named,
  rememberLocker,
} from '../setup/known-lockers.ts'
import { showUsage } from './status.ts'

export function add(program: Command, open: Open): void {
  const lockers = program
    .command('lockers')
    .description('the lockers that this machine knows, and the lockers of your wallet')
  lockers
    .command('ls', { isDefault: true })
    .description('list them, like `svc lockers` without a subcommand; with --remote, the lockers of your wallet')
    .option(
      '--remote',
      'ask the gateway for the lockers that your wallet owns or operates, and remember the owned ones',
    )
    .option('--usage', 'ask the gateway for the end, the usage, the cost and the next anchor of each')
    .action(async ({ remote = false, usage = false }: { remote?: boolean; usage?: boolean }, command: Command) => {
      const session = await open(command)
      if (!remote) return list(session, { usage })
      const { listRemote } = await import('./remote-lockers.ts')
      await listRemote(session)
    })
  lockers
    .command('add')
    .description('remember a locker that was shared with you or bought on another machine')
    .argument('<receipt>', 'rcpt_…')
    .option('--name <name>', 'its name on this machine')
    .action(async (receipt: string, { name }: { name?: string }, command: Command) =>
      remember(await open(command), receipt, name ?? null),
    )
  lockers
    .command('rename')
    .description('name a locker at the gateway and on this machine; its operators see the name too')
    .argument('<locker>', 'its name, receipt or id')
    .argument('<name>', 'its new name')
    .action(async (locker: string, name: string, _: object, command: Command) =>
      rename(await open(command), locker, name),
    )
  lockers
    .command('rm')
    .description('forget a locker; the locker itself does not change')
    .argument('<locker>', 'its name, receipt or id')
    .action(async (locker: string, _: object, command: Command) => forget(await open(command), locker))
}

async function list(session: Session, { usage }: { usage?: boolean }): Promise<void> {
  const { output, folder, gateway } = session
  const lockers = await knownLockers(folder)
  if (usage)
    return showUsage(
      session,
      lockers.filter((locker) => locker.gateway === gateway),
    )
  if (output.isJson) {
    for (const locker of lockers) output.result(locker, () => '')
    return
  }
  if (lockers.length === 0)
    return output.note('No lockers yet: `svc buy` buys one, `svc lockers --remote` finds the lockers of your wallet.')
  output.result(lockers, () => lockersText(lockers))
}

function lockersText(lockers: readonly KnownLocker[]): string {
  const columns = ['NAME', 'LOCKER', 'RECEIPT', 'OWNER', 'SINCE', 'GATEWAY'].map((title) => ({ title }))
  const rows = lockers.map(({ name, locker_id, receipt_id, owner, added_at, gateway, operator }) => [
    shown((operator === undefined && name) || '-'),
    shown(locker_id),
    receipt_id,
    shown(short(owner ?? '-')),
    timeText(added_at),
    shown(gateway),
  ])
  return table(columns, rows)
}

async function remember(session: Session, receipt_id: string, name: string | null): Promise<void> {
  const { output, folder, gateway, host } = session
  requireReceiptId(receipt_id)
  const objection = name === null ? null : nameObjection(name)
  if (objection !== null) throw new UsageError(objection)
  const added_at = new Date(host.now()).toISOString()
  const added = { receipt_id, locker_id: lockerId(receipt_id), gateway, owner: null, name, added_at }
  const locker = await rememberLocker(folder, added)
  output.result(locker, () => `${locker.locker_id} is known as ${locker.name ?? receipt_id}`)
}

async function rename(session: Session, wanted: string, name: string): Promise<void> {
  const { output, folder, gateway, host } = session
  const objection = nameObjection(name)
  if (objection !== null) throw new UsageError(objection)
  const locker = await session.locker(wanted)
  const { receipt_id, locker_id, owner } = locker
  const known = await knownLockers(folder)
  if (named(known, gateway).some((other) => other.name === name && other.receipt_id !== receipt_id))
    throw new UsageError(`another locker has the name ${name}`)
  const tags = await (await session.lockerClient(locker)).renameLocker(locker, name, host.signal)
  const added_at = known.find((one) => one.receipt_id === receipt_id)?.added_at ?? new Date(host.now()).toISOString()
  await rememberLocker(folder, { receipt_id, locker_id, gateway, owner, name, added_at })
  output.result({ receipt_id, locker_id, name, tags }, () => `${locker.name ?? locker_id} is now called ${name}`)
}

async function forget({ output, folder, gateway }: Session, wanted: string): Promise<void> {
  const { receipt_id } = isReceiptId(wanted)
    ? { receipt_id: wanted }
    : findLocker(await knownLockers(folder), gateway, wanted)
  const forgotten = await forgetLocker(folder, receipt_id)
  output.result({ receipt_id, forgotten }, () =>
    forgotten ? `${wanted} was removed from the list` : `${wanted} was not in the list`,
  )
}

function requireReceiptId(text: string): void {
  if (!isReceiptId(text)) throw new UsageError(`${JSON.stringify(text)} is not a receipt id`)
}
