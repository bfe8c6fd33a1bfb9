import type { Finding } from '@svc/api/agent/delegations'
import { CanonicalJsonError } from '@svc/protocol/canonical'
import { isFindingChain, isFindingSignedBy, type SignedFinding } from '@svc/protocol/finding'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { requireTrusted } from '../evidence/trusted-keys.ts'
import { journalEntry } from '../journal.ts'

export interface CheckOptions {
  /** The key that must have signed the log, 64 hex; by default any key that the client trusts. */
  publicKeyHex?: string
}

/** Requires the first entries of one delegation's log, without gaps, each signed by a trusted key. */
export async function checkFindings(
  context: Context,
  log: readonly Finding[],
  { publicKeyHex }: CheckOptions = {},
): Promise<void> {
  const findings = log as readonly SignedFinding[] // parsed from JSON
  const [first] = findings
  if (!first) return
  if (findings.some(({ delegation_id }) => delegation_id !== first.delegation_id))
    throw new UntrueAnswer('the log belongs to more than one delegation')
  if (first.sequence !== 1 || !isFindingChain(findings)) throw new UntrueAnswer('entries of the log are missing')
  for (const signer of new Set(findings.map(({ signer_pubkey }) => signer_pubkey))) {
    if (publicKeyHex === undefined) await requireTrusted(context, signer, 'the log')
    else if (signer !== publicKeyHex.toLowerCase()) throw new UntrueAnswer(`the log is signed by ${signer}`)
  }
  const forged = findings.find((finding) => !isSigned(finding))
  if (forged) throw new UntrueAnswer(`the signature of entry ${forged.sequence} of the log is invalid`)
}

function isSigned(finding: SignedFinding): boolean {
  const key = ed25519PublicKeyFromHex(finding.signer_pubkey)
  try {
    return key !== null && isFindingSignedBy(key, finding)
  } catch (error) {
    // A finding without a canonical form cannot have been signed.
    if (error instanceof CanonicalJsonError) return false
    throw error
  }
}

type LastRead = Pick<Finding, 'sequence' | 'digest'>

/** Requires that the log continues the one read before, and records its end for the next time. */
export async function requireContinued(context: Context, delegationId: string, log: readonly Finding[]): Promise<void> {
  const entry = journalEntry<LastRead>(context.journal, `findings ${context.baseUrl} ${delegationId}`)
  const known = await entry.read()
  if (known && log[known.sequence - 1]?.digest !== known.digest)
    throw new UntrueAnswer(`entry ${known.sequence} of the log is missing or has changed since it was last read`)
  const last = log.at(-1)
  if (!last || last.sequence === known?.sequence) return
  // If another process has written meanwhile, its entry is just as valid.
  await entry.write({ sequence: last.sequence, digest: last.digest })
}
