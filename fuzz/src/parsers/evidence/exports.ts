// Exports of older records, as JSON Lines or one array, that arrive in pieces.

import { type ExportEntry, readExport } from '@svc/gateway/evidence/import/read-export'
import { toBase58 } from '@svc/protocol/bytes'
import { must, mustEqual, type Parser } from '../engine/parser.ts'
import { splitAtRandom } from '../engine/random.ts'

const MAX_RECORD_BYTES = 2048
const TX = toBase58(new Uint8Array(64).fill(7))
const RECORD = {
  receipt_id: 'rcpt_1',
  locker_id: 'locker_0123456789ab',
  result_hash: `sha256:${'0a'.repeat(32)}`,
  merkle_root: `sha256:${'0b'.repeat(32)}`,
  manifest_signature: `unsigned:${'0'.repeat(32)}`,
  file_count: 2,
  total_bytes: 3,
  files: [
    { filename: 'b', size_bytes: 1, content_hash: '0c'.repeat(32), content_type: 'text/plain' },
    { filename: 'a', size_bytes: 2, content_hash: `sha256:${'0d'.repeat(32)}` },
  ],
  attested_at: '2025-06-12T00:00:00.5Z',
  schema_version: '1.0',
  oracle_slot: 5,
  oracle_tx: TX,
  oracle_feed: null,
  attestation_status: 'complete',
  anchor: { type: 'oracle_v2', chain: 'solana:x', tx: TX, slot: 5, account: null, envelope_version: 1 },
}

export function open(): Parser {
  const { anchor: _, ...old } = RECORD
  return {
    seeds: [
      `${JSON.stringify(RECORD)}\n\n${JSON.stringify(old)}\n`,
      JSON.stringify([RECORD, old]),
      ' [ ] ',
      JSON.stringify(RECORD),
    ],
    words: [
      '[',
      ']',
      '{',
      '}',
      ',',
      '\n',
      '"',
      '\\',
      '\ufeff',
      'unsigned:',
      'sha256:',
      '2025-02-30T00:00:00Z',
      ...Object.keys(RECORD),
    ],
    isJson: true,
    isCostly: true,
    maxBytes: 8192,
    async check(input, random) {
      const whole = await read([Buffer.from(input)])
      mustEqual(
        await read(splitAtRandom(input, random)),
        whole,
        'an export is another one when it arrives in other pieces',
      )
      for (const entry of whole) {
        must(/^(?:line|entry) \d+$|^the end$/.test(entry.at), 'an entry has no place')
        if ('problem' in entry) must(/^.{1,400}$/u.test(entry.problem), 'a problem is not one line')
        else
          must(
            entry.record.files.every(({ filename }) => filename.isWellFormed()),
            'takes a name that is no text',
          )
      }
    },
  }
}

async function read(pieces: readonly Buffer[]): Promise<ExportEntry[]> {
  async function* arriving() {
    yield* pieces
  }
  const entries: ExportEntry[] = []
  for await (const entry of readExport(arriving(), MAX_RECORD_BYTES)) entries.push(entry)
  return entries
}
