import type { Anchoring } from '@svc/sdk'
import type { Command } from 'commander'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  const anchoring = program.command('anchoring').description('how the statements of the locker reach the chain')
  anchoring
    .command('show', { isDefault: true })
    .description('show it, as `svc anchoring` alone does')
    .action(async (_: object, command: Command) => show(await open(command)))
  anchoring
    .command('each')
    .description('publish every statement separately')
    .action(async (_: object, command: Command) => change(await open(command), 'each'))
  anchoring
    .command('log')
    .description(
      'publish statements only through the anchored checkpoints of the transparency log; `svc push` still publishes one',
    )
    .action(async (_: object, command: Command) => change(await open(command), 'log'))
}

async function show(session: Session): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  // Gateways up to 1.1 publish every statement.
  const { anchoring = 'each' } = await client.metadata(locker, session.host.signal)
  report(session, locker.locker_id, anchoring)
}

async function change(session: Session, wanted: Anchoring): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  report(session, locker.locker_id, await client.changeAnchoring(locker, wanted, session.host.signal))
}

const MEANING: Record<Anchoring, string> = {
  each: 'each: every statement is published separately',
  log: 'log: statements are published through the anchored checkpoints of the log',
}

function report({ output }: Session, locker_id: string, anchoring: Anchoring): void {
  output.result({ locker_id, anchoring }, () => MEANING[anchoring])
}
