import { type Verdict, verdictOf } from '@svc/verifier/verdict'
import type { ChainReport } from '@svc/verifier/verify-chain'
import type { DecryptionReport } from './decrypted-files.ts'
import { wrongFilesText } from './file-names.ts'
import type { FoundFile } from './find-files.ts'
import { type Checked, factsOf } from './report.ts'

/** The result for one bundle. */
export interface Judged extends Checked {
  path: string
  /** The first names of its list. */
  names: readonly string[]
  /** Null unless decryption was requested. */
  decryption: DecryptionReport | null
  /** The files of --find. */
  found: readonly FoundFile[]
}

/** A reason why verification fails. */
export interface Objection {
  /** In short: the name of a fact that failed, or of a required fact that did not pass. */
  what: string
  /** In full, as a sentence for the first line. */
  why: string
}

/** Empty if nothing failed and every required fact passed. */
export function objections(
  judged: readonly Judged[],
  chain: ChainReport | null,
  required: readonly string[],
): Objection[] {
  const about = (path: string) => (text: string) => (judged.length > 1 ? `${path}: ${text}` : text)
  const ofBundles = judged.flatMap((one) => {
    const named = about(one.path)
    return objectionsTo(one, required).map(({ what, why }) => ({ what: named(what), why: named(why) }))
  })
  return [...ofBundles, ...(chain?.problems ?? []).map(({ code, why }) => ({ what: `chain: ${code}`, why }))]
}

function objectionsTo(judged: Judged, required: readonly string[]): Objection[] {
  const { verification, decryption, found } = judged
  if (verification.refused) {
    const { code, why } = verification.refused
    return [{ what: `refused (${code})`, why: `this bundle cannot be checked: ${why} (${code})` }]
  }
  const facts = factsOf(judged)
  const failed = Object.entries(facts).flatMap(([what, { value, why = '' }]) => {
    if (value !== 'failed') return []
    const { files } = verification
    return [{ what, why: what === 'files_match' && files ? `${wrongFilesText(files)} (${what})` : `${what}: ${why}` }]
  })
  const missing = required.flatMap((name) => {
    const fact = facts[name] ?? { value: 'not_checked' }
    if (fact.value === 'passed' || fact.value === 'failed') return []
    return [`${name} is required, and ${fact.value}${'why' in fact ? ` (${fact.why})` : ''}`]
  })
  const undecrypted = (decryption?.failed ?? []).map(({ filename }) => `${filename} not decrypted`)
  const unlisted = found
    .filter(({ count }) => count === 0)
    .map(({ file }) => `${file} is not listed${verification.redacted ? ' by this redacted bundle' : ''}`)
  return [...failed, ...[...unlisted, ...missing, ...undecrypted].map((what) => ({ what, why: what }))]
}

/** The verdict on all bundles. An objection to one of them, or to their chain, applies to all. */
export function verdictOfAll(judged: readonly Judged[], objected: readonly Objection[]): Verdict {
  const each = judged.map((one) => verdictOf(one.verification.refused ? null : factsOf(one)))
  if (objected.length > 0 || each.includes('failed')) return 'failed'
  return each.includes('signer_unknown') ? 'signer_unknown' : 'verified'
}
