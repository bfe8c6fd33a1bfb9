import { type Statements, statements as statementsEndpoint } from '@svc/api/evidence'
import type { Client } from '@svc/sdk'
import type { Command } from 'commander'
import { NotVerified } from '../errors.ts'
import { lockerArgument } from '../options.ts'
import { bytesText, short, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import type { Open, Session } from '../session.ts'

type Statement = Statements['statements'][number]

export function add(program: Command, open: Open): void {
  program
    .command('statements')
    .description('the chain of all statements about the locker, oldest first; needs no wallet')
    .addArgument(lockerArgument())
    .action(async (locker: string | undefined, _: object, command: Command) => statements(await open(command), locker))
}

async function statements(session: Session, wanted: string | undefined): Promise<void> {
  const { output, host } = session
  const { receipt_id } = await session.locker(wanted)
  const all: Statement[] = []
  for await (const statement of pages(await session.client(), receipt_id, host.signal)) {
    if (output.isJson) output.result(statement, () => '')
    all.push(statement)
  }
  if (all.length === 0) output.note('None yet: `svc attest` makes one.')
  else if (!output.isJson) output.result(all, () => statementsText(all))
  const broken = all.find(
    ({ prev_statement_digest }, i) => prev_statement_digest !== (all[i - 1]?.statement_digest ?? null),
  )
  if (broken) throw new NotVerified(`statement ${broken.sequence} does not follow the previous one`)
}

async function* pages(client: Client, receipt_id: string, signal: AbortSignal): AsyncGenerator<Statement> {
  for (let from: number | undefined = 1; from !== undefined; ) {
    const { body }: { body: Statements } = await client.call(statementsEndpoint, {
      query: { receipt_id, from },
      signal,
    })
    yield* body.statements
    from = body.next_sequence
  }
}

function statementsText(all: readonly Statement[]): string {
  const columns = [
    { title: 'NO', isRight: true },
    { title: 'ISSUED' },
    { title: 'FILES', isRight: true },
    { title: 'SIZE', isRight: true },
    { title: 'ROOT' },
    { title: 'DIGEST' },
    { title: 'PUBLISHED' },
  ]
  const rows = all.map(({ sequence, issued_at, file_count, total_bytes, merkle_root, statement_digest, anchor }) => [
    String(sequence),
    timeText(shown(issued_at)),
    String(file_count),
    bytesText(Number(total_bytes)),
    shown(short(merkle_root, 19)),
    shown(short(statement_digest)),
    anchor === null ? '-' : shown(short(anchor.tx)),
  ])
  return table(columns, rows)
}
