import { push as pushEndpoint } from '@svc/api/attestations'
import type { Command } from 'commander'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { anchorPairs } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  program
    .command('push')
    .description('publish the newest statement on chain, if `svc attest` did not')
    .action(async (_: object, command: Command) => push(await open(command)))
}

async function push(session: Session): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const body = { receipt_id: locker.receipt_id }
  const { body: answer } = await client.call(pushEndpoint, { body, signal: host.signal })
  output.result(answer, () =>
    pairs([
      ['status', shown(answer.status + (answer.reason === null ? '' : `: ${answer.reason}`))],
      ...anchorPairs(answer.anchor, session.gateway),
    ]),
  )
}
