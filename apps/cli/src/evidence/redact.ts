// Redacts a bundle on this machine, so that redaction does not depend on the gateway.

import { createReadStream } from 'node:fs'
import { evidenceBundle } from '@svc/api/proofs'
import { utf8 } from '@svc/protocol/bytes'
import { chunksOf } from '@svc/sdk'
import type { Chunks } from '@svc/verifier/read-bundle'
import { type RedactedBundle, redactBundle } from '@svc/verifier/redact-bundle'
import { Failure, NotVerified, UsageError } from '../errors.ts'
import { shown } from '../output/shown.ts'
import type { Session } from '../session.ts'
import { givenKeys } from './given-keys.ts'

export type Redacted = Omit<Extract<RedactedBundle, { refused: null }>, 'refused'>

/** A bundle from the gateway, or from a file. */
type BundleSource = { receipt_id: string; sequence?: number } | { path: string }

/** Without filenames, the bundle shows no names. */
export async function redact(
  session: Session,
  source: BundleSource,
  target: WritableStream<Uint8Array>,
  filenames: readonly string[] | undefined,
): Promise<Redacted> {
  const { pinnedKeys, domainTag } = await givenKeys(session, [])
  const writer = target.getWriter()
  const redacted = await redactBundle(await chunksFrom(session, source), (text) => writer.write(utf8(text)), {
    pinnedKeys,
    ...(filenames && { filenames }),
    ...(domainTag !== null && { domainTag }),
  })
  if (redacted.refused) throw failureOf(redacted.refused)
  await writer.close()
  const { refused: _, ...result } = redacted
  return result
}

async function chunksFrom(session: Session, source: BundleSource): Promise<Chunks> {
  const { signal } = session.host
  if ('path' in source) return createReadStream(source.path, { signal })
  const client = await session.client()
  const { body } = await client.open(evidenceBundle, { query: source, signal })
  return body ? chunksOf(body) : []
}

function failureOf({ code, why }: NonNullable<RedactedBundle['refused']>): Failure {
  switch (code) {
    case 'file_not_listed':
      return new UsageError(shown(why), '`svc statements` shows the statements; attest again after an upload')
    case 'names_receipt':
      return new Failure(`${shown(why)}, so it would open files`, 'choose other files, or leave out --file')
    case 'no_statement':
      return new Failure(shown(why), '`svc attest` makes a statement that can be redacted')
    case 'already_redacted':
      return new UsageError(
        shown(why),
        'a redacted bundle cannot show more or other files: start from the complete bundle',
      )
    case 'not_valid':
      return new NotVerified(
        `the bundle is inconsistent: ${shown(why)}`,
        '`svc verify` checks it fact by fact; for a gateway with its own domain tag, run `svc keys pin` first',
      )
    default:
      return new NotVerified(`this bundle cannot be redacted: ${shown(why)} (${code})`)
  }
}
