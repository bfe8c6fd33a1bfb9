import type { AttestAnswer } from '@svc/api/attestations'
import type { Command } from 'commander'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs } from '../output/table.ts'
import { anchorPairs } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'

interface AttestOptions {
  queued?: boolean
}

export function add(program: Command, open: Open): void {
  program
    .command('attest')
    .description('have the gateway sign a statement about the locker, check it, and publish it on chain')
    .option('--queued', 'run it in the background and poll: for very large lockers')
    .action(async (options: AttestOptions, command: Command) => attest(await open(command), options))
}

async function attest(session: Session, { queued = false }: AttestOptions): Promise<void> {
  const { output, host } = session
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const answer = await client.attest(locker, { queued, signal: host.signal })
  output.result(answer, () => attestText(answer, session.gateway))
  const { status, error, publish_after } = answer.push_result
  if (status === 'failed')
    output.warn(`signed, but not published: ${shown(error?.error ?? 'unknown')}. \`svc push\` tries again`)
  if (status === 'deferred')
    output.note(
      `\nSigned. The gateway publishes the newest statement automatically after ${shown(publish_after ?? 'a while')}`,
    )
  output.note('\nNext: `svc bundle -o bundle.json`')
}

function attestText({ attestation, unchanged, push_result }: AttestAnswer, gateway: string): string {
  const { evidence_seq, file_count, total_bytes, merkle_root, envelope } = attestation
  return pairs([
    ['statement', `${evidence_seq ?? '-'}${unchanged ? ' (nothing has changed)' : ''}`],
    ['files', `${counted(file_count, 'file')}, ${bytesText(total_bytes)}`],
    ['root', shown(merkle_root)],
    ['signed by', `${envelope?.issuer_pubkey}, a trusted key; the signature is valid`],
    ...anchorPairs(push_result.anchor, gateway),
  ])
}
