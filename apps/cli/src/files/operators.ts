import { lockerRecord } from '@svc/api/lockers'
import type { Command } from 'commander'
import { operatorKey } from '../options.ts'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  const operators = program.command('operators').description('keys that may read, write and list files for the owner')
  operators
    .command('ls', { isDefault: true })
    .description('list them, as `svc operators` alone does')
    .action(async (_: object, command: Command) => list(await open(command)))
  operators
    .command('add')
    .description('let a key read, write and list')
    .argument('<key>', 'Ed25519 public key, base58: the operator gets it with `svc whoami`', operatorKey)
    .action(async (key: string, _: object, command: Command) => addOperator(await open(command), key))
  operators
    .command('rm')
    .description('remove a key, effective immediately')
    .argument('<key>', 'Ed25519 public key, base58', operatorKey)
    .action(async (key: string, _: object, command: Command) => removeOperator(await open(command), key))
}

async function list(session: Session): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const { locker_id } = locker
  const { body } = await client.call(lockerRecord, { params: { locker_id }, signal: host.signal })
  const { owner, operators } = body
  output.result({ locker_id, owner, operators }, () =>
    [`${shown(owner)}  owner`, ...operators.map((key) => `${shown(key)}  operator`)].join('\n'),
  )
}

async function addOperator(session: Session, key: string): Promise<void> {
  const locker = await session.locker()
  const operators = await (await session.lockerClient(locker)).addOperator(locker, key)
  const document = { locker_id: locker.locker_id, operators }
  session.output.result(
    document,
    () => `${shown(key)} may read, write and list (${counted(operators.length, 'operator')})`,
  )
  session.output.note(`On the other machine: svc lockers add ${locker.receipt_id} --gateway ${session.gateway}`)
}

async function removeOperator(session: Session, key: string): Promise<void> {
  const locker = await session.locker()
  await (await session.lockerClient(locker)).removeOperator(locker, key)
  session.output.result({ locker_id: locker.locker_id, removed: key }, () => `${shown(key)} no longer has access`)
}
