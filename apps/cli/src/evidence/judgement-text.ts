// Verification results as text for users.

import { isoSeconds } from '@svc/protocol/evidence'
import type { FilesReport } from '@svc/verifier/check-files'
import type { Fact } from '@svc/verifier/facts'
import type { LogReport } from '@svc/verifier/log-facts'
import { uncheckedWith } from '@svc/verifier/receipt-facts'
import type { RedactedReport } from '@svc/verifier/redacted-facts'
import type { VerifiedBundle } from '@svc/verifier/verify-bundle'
import type { ChainReport } from '@svc/verifier/verify-chain'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Style } from '../output/style.ts'
import { pairs } from '../output/table.ts'
import type { DecryptionReport } from './decrypted-files.ts'
import { namesText } from './file-names.ts'
import type { FoundFile } from './find-files.ts'
import type { Judged } from './judgement.ts'
import { factsOf } from './report.ts'

/** `keysFrom` is the source of the pinned keys. */
export function judgedText(judged: Judged, keysFrom: string | null, style: Style): string {
  const { path, verification } = judged
  if (verification.refused) {
    const { code, why } = verification.refused
    return `${style.strong(shown(path))}\n${style.bad('✗')} this bundle cannot be checked: ${shown(why)} (${code})`
  }
  const facts = factLines(Object.entries(factsOf(judged)), style)
  const head = `${style.strong(shown(path))}\n${headText(verification, keysFrom)}`
  const unchecked = uncheckedText(uncheckedWith(judged.receipt, verification), style)
  const leftOut = leftOutText(verification.redacted?.leftOut ?? [])
  const log = logText(verification.log)
  return [head, facts.join('\n'), ...log, ...leftOut, ...unchecked, ...wrongFiles(verification.files)].join('\n\n')
}

type Pair = [name: string, value: string]

function logText(log: LogReport | null): string[] {
  return log ? [pairs(logPairs(log))] : []
}

export function logPairs({ origin, index, size, cosigned }: LogReport): Pair[] {
  const vouching = cosigned.map(({ name, time }): Pair => ['witness', shown(`${name}, ${isoSeconds(time)}`)])
  return [['log', shown(`entry ${index} of ${size} in ${origin}`)], ...vouching]
}

function leftOutText(sentences: readonly string[]): string[] {
  return sentences.length > 0 ? [pairs(sentences.map((sentence): [string, string] => ['left out', sentence]))] : []
}

function uncheckedText(fields: readonly string[], style: Style): string[] {
  return fields.length > 0 ? [style.dim(`not covered by any check: ${shown(fields.join(', '))}`)] : []
}

/** Lists every wrong file; the fact itself names only the first. */
function wrongFiles(report: FilesReport | null): string[] {
  const kinds = Object.entries(report?.names ?? {})
  const lines = kinds.flatMap(([problem, names]) => names.map((name): [string, string] => [problem, shown(name)]))
  return lines.length > 1 ? [pairs(lines)] : []
}

function headText(verified: VerifiedBundle, keysFrom: string | null): string {
  return pairs(headPairs(verified, keysFrom))
}

/** The subject of the bundle, and the keys that it is verified with. */
export function headPairs(verified: VerifiedBundle, keysFrom: string | null): Pair[] {
  const { envelope, key, receiptId, redacted } = verified
  const body = envelope?.body
  return [
    ['receipt', shown(receiptId ?? (redacted ? 'not named: the bundle is redacted' : '-'))],
    ['statement', body ? shown(`${body.sequence} of ${body.proof_id}, ${body.issued_at}`) : 'none: version 1'],
    ['files', filesText(verified)],
    ['signed by', key ? `${key.public_key_hex}, ${key.pinned ? 'pinned' : 'not pinned'}` : 'an unknown key'],
    ['trusted', shown(keysFrom ?? 'no keys')],
  ]
}

function filesText({ counted: found, redacted }: VerifiedBundle): string {
  const { files, totalBytes, merkleRoot } = found
  const parts = [
    counted(files, 'file') + (redacted ? whichShown(redacted) : ''),
    ...(totalBytes === null ? [] : [bytesText(Number(totalBytes))]),
    ...(merkleRoot === null ? [] : [`root ${merkleRoot}`]),
  ]
  return parts.join(', ')
}

function whichShown({ redaction, total }: RedactedReport): string {
  return redaction === 'no_names' ? ' without names' : ` of ${total ?? 'an unknown number'}`
}

const NAME_WIDTH = 25
const WORDS = { passed: '', failed: 'failed: ', not_checked: 'not checked: ', unavailable: 'unavailable: ' }

/** A line for each fact that passed or failed, then one for all facts that have no result for the same reason. */
function factLines(facts: readonly [name: string, fact: Fact][], style: Style): string[] {
  const lines: string[] = []
  const without = new Map<string, string[]>()
  for (const [name, { value, why }] of facts) {
    const text = why === undefined ? '' : WORDS[value] + why
    if (value === 'passed') lines.push(factLine(style.good('✓'), name, style.dim(text)))
    else if (value === 'failed') lines.push(factLine(style.bad('✗'), name, style.bad(text)))
    else without.set(text, [...(without.get(text) ?? []), name])
  }
  return [...lines, ...[...without].map(([text, names]) => factLine('–', names.join(', '), style.dim(text)))]
}

function factLine(mark: string, names: string, text: string): string {
  return `${mark} ${names.padEnd(NAME_WIDTH)}  ${text}`.trimEnd()
}

export function chainText({ sequences, problems, isFromStart }: ChainReport, style: Style): string {
  const which = `statements ${sequences.join(', ')}`
  const start = isFromStart ? '' : ', not from the first one'
  if (problems.length === 0) return `${style.good('✓')} unbroken chain: ${which}${start}`
  return problems.map(({ why }) => `${style.bad('✗')} the chain is broken: ${shown(why)}`).join('\n')
}

/** Under which names the list has the files of --find. */
export function foundText(found: readonly FoundFile[], style: Style): string {
  return found
    .map(({ file, names, count }) =>
      count === 0
        ? `${style.bad('✗')} ${shown(file)} is not listed`
        : `${style.good('✓')} ${shown(file)} is listed as ${namesText(names, count)}`,
    )
    .join('\n')
}

/** The checks of encrypted files that were made, and the ones that were not. */
export function decryptionText(report: DecryptionReport, style: Style): string {
  const { decrypted, compared, encrypted_again, failed } = report
  const lines = [
    ...failed.map(({ filename, why }) => `${style.bad('✗')} ${shown(filename)}: ${shown(why)}`),
    ...(decrypted > 0
      ? [
          `${style.good('✓')} ${counted(decrypted, 'encrypted file')} decrypted completely, ${compared} compared with plaintext`,
        ]
      : []),
    ...(encrypted_again > 0
      ? [
          `– ${counted(encrypted_again, 'file')} encrypted again with this key and compared with the list: see files_match`,
        ]
      : []),
  ]
  return lines.length > 0 ? lines.join('\n') : style.dim('no encrypted file was found')
}
