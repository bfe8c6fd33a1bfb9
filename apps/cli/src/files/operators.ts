import { lockerRecord } from '@svc/api/lockers'
import { nameObjection, operatorName } from '@svc/sdk/locker-names'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
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
    .command('name')
    .description('name an operator; the other operators see the name too')
    .argument('<key>', 'Ed25519 public key, base58', operatorKey)
    .argument('<name>', 'its new name')
    .action(async (key: string, name: string, _: object, command: Command) =>
      nameOperator(await open(command), key, name),
    )
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
  const { owner, operators, tags } = body
  const names = Object.fromEntries(operators.map((key) => [key, operatorName(tags, key)]))
  const line = (key: string) => `${shown(key)}  operator${names[key] ? ` ${shown(names[key])}` : ''}`
  output.result({ locker_id, owner, operators, names }, () =>
    [`${shown(owner)}  owner`, ...operators.map(line)].join('\n'),
  )
}

async function nameOperator(session: Session, key: string, name: string): Promise<void> {
  const objection = nameObjection(name)
  if (objection !== null) throw new UsageError(objection)
  const locker = await session.locker()
  await (await session.lockerClient(locker)).nameOperator(locker, key, name, session.host.signal)
  session.output.result({ locker_id: locker.locker_id, operator: key, name }, () => `${shown(key)} is called ${name}`)
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
