// The first line of a verification: the verdict, and its subject as far as it was checked.

import { isoSeconds } from '@svc/protocol/evidence'
import type { Verdict } from '@svc/verifier/verdict'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import type { ChainReport } from '@svc/verifier/verify-chain'
import { counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Style } from '../output/style.ts'
import { namesText } from './file-names.ts'
import type { FoundFile } from './find-files.ts'
import type { Judged, Objection } from './judgement.ts'

export interface Verdicts {
  verdict: Verdict
  judged: readonly Judged[]
  chain: ChainReport | null
  objected: readonly Objection[]
  /** The gateway that the keys were pinned for; null for keys given by --keys. */
  audience: string | null
}

export function verdictText({ verdict, judged, chain, objected, audience }: Verdicts, style: Style): string {
  if (verdict === 'failed') return `${style.bad('FAILED:')} ${failedText(objected)}`
  const verified = judged.filter((one): one is Verified => !one.verification.refused)
  const parts = [
    ...(chain ? [chainPart(chain)] : verified.map(filesPart)),
    ...new Set(verified.map(({ verification }) => signerPart(verification, audience))),
    ...(chain ? [] : verified.flatMap(publicationParts)),
  ]
  const word = verdict === 'verified' ? style.good('VERIFIED:') : style.strong('CONSISTENT BUT SIGNER UNKNOWN:')
  return `${word} ${parts.join(', ')}`
}

function failedText([first, ...others]: readonly Objection[]): string {
  const also = others.length > 0 ? `; also ${others.map(({ what }) => what).join(', ')}` : ''
  return shown(`${first?.why ?? 'nothing was proven'}${also}`)
}

type Verified = Judged & { verification: VerifiedBundle }

function filesPart({ verification: { counted: found, redacted, facts }, names, found: lookedUp }: Verified): string {
  const files = counted(found.files, 'file')
  const isCompared = facts.files_match.value === 'passed'
  const matching = isCompared ? ` ${found.files === 1 ? 'matches' : 'match'} the folder` : ''
  if (lookedUp.length > 0 && !isCompared) return listedPart(lookedUp)
  if (redacted?.redaction === 'chosen_files')
    return `${namesText(names, found.files)} (${redacted.shown} of ${counted(redacted.total ?? 0, 'file')})${matching}`
  if (isCompared) return files + matching
  return redacted ? `${files} without names` : `list of ${files}`
}

function listedPart(files: readonly FoundFile[]): string {
  const [first, ...others] = files
  if (!first || others.length > 0) return `${counted(files.length, 'file')} are listed`
  return `${namesText([first.file], 1)} is listed as ${namesText(first.names, first.count)}`
}

/** The text for a chain without problems. */
function chainPart({ sequences, isFromStart }: ChainReport): string {
  return `unbroken chain of statements ${sequences[0]} to ${sequences.at(-1)}${isFromStart ? '' : ', not from the first statement'}`
}

function signerPart({ key, facts }: VerifiedBundle, audience: string | null): string {
  if (!key) return 'signed by an unknown key'
  if (!key.pinned) return `signed by ${key.key_id} (not pinned)`
  if (facts.key_pinned.value !== 'passed') return `signed by ${key.key_id} (retired, at an unknown time)`
  const how = key.endorsed_by.length > 0 ? 'endorsed by a pinned key' : 'pinned'
  return `signed by ${shown(audience ?? key.key_id)} (${how})`
}

function publicationParts({ verification: { anchoredAt, facts, log }, receipt }: Verified): string[] {
  const { log_included, log_cosigned } = facts
  const isLinked = receipt?.receipt_is_of_bundle.value === 'passed'
  return [
    ...(anchoredAt === null ? [] : [`on chain ${isoSeconds(anchoredAt).slice(0, 10)}`]),
    ...(log && log_included?.value === 'passed' ? [`in the log ${shown(log.origin)}`] : []),
    ...(log_cosigned?.value === 'passed' ? ['cosigned'] : []),
    ...(receipt ? [isLinked ? 'of the given receipt' : 'not proven to belong to the given receipt'] : []),
  ]
}
