import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Command } from 'commander'
import { NotVerified } from '../errors.ts'
import { type StatementOptions, sequenceOf, statementOption } from '../options.ts'
import { bytesText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { anchorPairs } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'
import { readPins } from '../setup/pinned.ts'

export function add(program: Command, open: Open): void {
  program
    .command('proof')
    .description('prove that a file is in the latest statement; needs no wallet')
    .argument('<name>', 'a file of the locker')
    .addOption(statementOption())
    .action(async (name: string, options: StatementOptions, command: Command) =>
      proof(await open(command), name, options),
    )
}

async function proof(session: Session, name: string, options: StatementOptions): Promise<void> {
  const { output, host } = session
  const { receipt_id } = await session.locker()
  const client = await session.client()
  const found = await client.proof(receipt_id, name, { ...sequenceOf(options), signal: host.signal })
  const { file_entry, leaf_hash, leaf_index, file_count, proof: steps, merkle_root, anchor, statement, signer } = found
  output.result(found, () =>
    pairs([
      ['file', `${shown(file_entry.filename)}, ${bytesText(file_entry.size_bytes)}`],
      ['hash', shown(file_entry.content_hash)],
      ['leaf', `${leaf_hash}, ${leaf_index + 1} of ${file_count}`],
      ...steps.map(({ hash, position }): [string, string] => ['', `${hash} on the ${position}`]),
      ['root', `${shown(merkle_root)}, matches the path above`],
      ['statement', statement ? shown(`${statement.body.sequence}, ${statement.body.issued_at}`) : 'none'],
      ['signed by', statement && signer === 'pinned' ? `${issuerOf(statement)}, pinned` : 'consistent, signer unknown'],
      ...anchorPairs(anchor, session.gateway),
    ]),
  )
  if (signer === 'pinned') return
  if (!(await readPins(session.folder, session.gateway)))
    return output.warn('no key of the gateway is pinned: the proof shows only that the gateway agrees with itself')
  throw new NotVerified(
    'no statement with the signature of a pinned key covers this file',
    '`svc attest` makes a statement of the current files',
  )
}

function issuerOf({ issuer_pubkey, body }: EvidenceEnvelope): string {
  return shown(issuer_pubkey ?? body.issuer_key_id)
}
