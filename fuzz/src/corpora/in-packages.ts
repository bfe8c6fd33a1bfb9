// The cases in our own packages: on a server, with the modules for browsers, and in Chromium. All verdicts must agree.

import { equalBytes } from '@svc/protocol/bytes'
import * as forBrowsers from '@svc/protocol/crypto-noble'
import { ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { isValidByRule } from '@svc/protocol/test/ed25519-rule'
import type { BrowserAnswer } from './browser.ts'
import { type Corpora, type JsonCase, KINDS, type Outcome, type SignatureCase } from './cases.ts'
import { isRefusedByRule, jsonProblem } from './json-rule.ts'
import { type Examples, type JsonReader, jsonReaders, type Objection, readAll } from './readers.ts'
import { problemsBy, RULED_KINDS, type RuledKind } from './rules/rules.ts'
import { verdictsOn } from './signatures.ts'

/** `inPage` is Chromium's result for the same cases; null when it was not run. */
export async function checkInPackages(
  examples: Examples,
  corpora: Corpora,
  inPage: BrowserAnswer | null,
): Promise<Outcome[]> {
  const { json, ed25519 } = corpora
  const objections = await readAll(
    examples,
    json.map(({ bytes }) => bytes),
  )
  const readers = jsonReaders(examples).map((reader) => {
    const { name } = reader
    return readerOutcome(reader, json, objections[name] ?? [], inPage?.objections[name] ?? null)
  })
  const ruled = RULED_KINDS.filter((kind) => corpora[kind].length > 0)
  return [
    ...(json.length > 0 ? readers : []),
    ...(ed25519.length > 0 ? [await signatureOutcome(ed25519, inPage)] : []),
    ...ruled.map((kind) => ruledOutcome(kind, corpora, inPage)),
  ]
}

function ruledOutcome(kind: RuledKind, corpora: Corpora, inPage: BrowserAnswer | null): Outcome {
  const cases = corpora[kind]
  const found = problemsBy(kind, cases)
  const problems = cases.map(({ name }, i) => {
    const there = inPage?.problems[kind][i] ?? null
    return [
      ...(found[i] ? [`${name}: ${found[i]}`] : []),
      ...(there && there !== found[i] ? [`${name}: in Chromium: ${there}`] : []),
    ]
  })
  return outcomeOf(`${KINDS[kind]}, our packages`, problems)
}

/** `problems` lists the problems of each case. */
function outcomeOf(kind: string, problems: readonly string[][], notes: string[] = []): Outcome {
  const passed = problems.filter((lines) => lines.length === 0).length
  return { kind, cases: problems.length, passed, problems: problems.flat(), notes }
}

function readerOutcome(
  { name, document }: JsonReader,
  cases: readonly JsonCase[],
  found: readonly Objection[],
  inPage: readonly Objection[] | null,
): Outcome {
  const problems = cases.map((one, i) => {
    const objection = found[i] ?? null
    const bytes = document(one.bytes)
    // Inside another document, a case may mean something else: only the strict reader can decide.
    const asked = bytes === one.bytes ? one : { name: '', bytes }
    const problem = jsonProblem(asked, objection)
    const differs = inPage !== null && inPage[i] !== objection
    return [
      ...(problem ? [`${one.name}: ${problem}`] : []),
      ...(differs ? [`${one.name}: ${objection} on a server, ${inPage[i]} in Chromium`] : []),
    ]
  })
  const byRule = name === 'strict reader' ? cases.filter(isRefusedByRule).map((one) => one.name) : []
  const notes = byRule.length === 0 ? [] : [`refused although they are JSON, by rule (ADD-05): ${byRule.join(', ')}`]
  return outcomeOf(`${KINDS.json}, ${name}`, problems, notes)
}

async function signatureOutcome(cases: readonly SignatureCase[], inPage: BrowserAnswer | null): Promise<Outcome> {
  const problems: string[][] = []
  let valid = 0
  for (const [i, one] of cases.entries()) {
    const expected = isValidByRule(one)
    if (expected) valid++
    const verdicts = {
      ...verdictsOn(one),
      'modules for browsers': isValidInBrowsers(one),
      ...Object.fromEntries(
        Object.entries(inPage?.verdicts[i] ?? {}).map(([name, verdict]) => [`${name} in Chromium`, verdict]),
      ),
    }
    const others = Object.entries(verdicts).filter(([, verdict]) => verdict !== expected)
    problems.push([
      ...(one.isValid === null || one.isValid === expected
        ? []
        : [`${one.name}: the corpus says ${one.isValid}, our rule ${expected}`]),
      ...others.map(([name, verdict]) => `${one.name}: ${name} says ${verdict}, our rule ${expected}`),
      ...(isSignedAlike(one) ? [] : [`${one.name}: our signature differs`]),
    ])
  }
  return outcomeOf(`${KINDS.ed25519}, our packages`, problems, [`${valid} are valid by our rule (ADD-04)`])
}

function isSignedAlike({ seed, message, signature }: SignatureCase): boolean {
  return seed === undefined || equalBytes(ed25519Signer(seed).sign(message), signature)
}

function isValidInBrowsers({ publicKey, message, signature }: SignatureCase): boolean {
  return ed25519PublicKey(publicKey) !== null && forBrowsers.ed25519Verifier(publicKey).verify(message, signature)
}
