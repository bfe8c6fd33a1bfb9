// JSON cases as files that `svc verify` is given: alone, and inside of a good bundle.

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { JsonCase, Outcome } from './cases.ts'
import { jsonProblem } from './json-rule.ts'
import { type Examples, jsonReaders } from './readers.ts'

const PROGRAM = fileURLToPath(new URL('../../../apps/cli/bin/svc.mjs', import.meta.url))
const READERS = ['bundle', 'field of a bundle', 'file of a bundle', 'field of a DSSE envelope']

interface Judged {
  bundles: { refused: { code: string; why: string } | null }[]
}

export async function checkOverCli(examples: Examples, cases: readonly JsonCase[]): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-corpora-'))
  try {
    const readers = jsonReaders(examples).filter(({ name }) => READERS.includes(name))
    const problems: string[] = []
    for (const { name, document } of readers) {
      const texts = cases.map(({ bytes }) => document(bytes))
      const judged = await verified(folder, texts)
      problems.push(...problemsOf(cases, texts, judged).map((problem) => `${name}: ${problem}`))
    }
    return { kind: 'JSON, svc verify', cases: readers.length * cases.length, problems, notes: [] }
  } finally {
    await rm(folder, { recursive: true })
  }
}

function problemsOf(cases: readonly JsonCase[], texts: readonly Uint8Array[], judged: Judged | string): string[] {
  if (typeof judged === 'string') return [`the program answered ${judged}`]
  return cases.flatMap((one, i) => {
    const bytes = texts[i] as Uint8Array
    const refused = judged.bundles[i]?.refused ?? null
    const problem = jsonProblem(
      bytes === one.bytes ? one : { name: '', bytes },
      refused?.code === 'not_strict_json' ? refused.why : null,
    )
    return problem ? [`${one.name}: ${problem}`] : []
  })
}

/** All texts in one run. What the program wrote, where that is no answer. */
async function verified(folder: string, texts: readonly Uint8Array[]): Promise<Judged | string> {
  const files = texts.map((_, i) => join(folder, `${i}.json`))
  for (const [i, bytes] of texts.entries()) await writeFile(files[i] as string, bytes)
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder, XDG_DATA_HOME: folder }
  const child = spawn(process.execPath, [PROGRAM, '--json', 'verify', ...files], { env })
  child.stdin.end()
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  try {
    return JSON.parse(output) as Judged
  } catch {
    return `${output.slice(0, 200)} ${errors.slice(0, 500)}`
  }
}
