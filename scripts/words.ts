// Fails on phrases and names for which the trade has a better word, in sources, tests and documents. The list is short:
// it contains only what has reappeared before. `node scripts/words.ts FOLDER…` reads those folders only.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Each phrase with what to write instead. */
const PHRASES: readonly (readonly [found: RegExp, better: string])[] = [
  [/\bwhoever\b/i, '"anyone who", "the caller", "they"'],
  [/\bwhom\b/i, '"who", or name the caller, the payer, the client'],
  [/\bwhat (became|becomes|become) of\b/i, '"the outcome of", "the status of"'],
  [/\bh(e|o)ld against\b/i, '"compared with", "checked against"'],
  [/\b(is|are|was|were|be) told\b/i, '"learns", "receives", "is reported to"'],
  [/\ball the same\b/i, '"anyway", "still"'],
  [/\b(those|that|one|ones) of before\b/i, '"the previous one", "the earlier ones"'],
  [/\bless than none\b/i, '"negative"'],
  [/(?<![-\w])strangers?(?![-\w])/i, '"unauthenticated callers", "untrusted input"'],
  [/\bstands in(?! for)\b/i, '"is in", "is stored in"'],
  [/\bsays so\b/i, '"reports it", "logs it"'],
  [/\bgives? up on\b/i, '"times out", "abandons"'],
  [/\bknows nothing of\b/i, '"does not depend on", "does not know"'],
]

/** Words of file names and identifiers that told a reader too little. */
const NAMES: Readonly<Record<string, string>> = {
  door: '"endpoint", "adapter" or "protocol"',
  doors: '"endpoints" or "protocols"',
  house: '"instance" or "testbed"',
  world: '"host", "testbed" or "fixture"',
  lazily: '"lazy"',
  patient: 'what it waits for',
  patiently: 'what it waits for',
  saying: 'what the text is about',
  stranger: '"anonymous"',
  strangers: '"anonymous"',
  trouble: '"errors"',
  turns: '"locks"',
  whoever: '"caller"',
}

const READ = /\.(ts|tsx|mjs|md|sh)$|(^|\/)\.env\.example$/
/** Of functions, classes, types and variables. */
const DECLARED = /\b(?:function|class|interface|type|const|let)\s+([A-Za-z_]\w*)/g

const SKIPPED = /(^|\/)(fixtures|vectors|contracts)\/|^scripts\/words\.ts$|^CODE_OF_CONDUCT\.md$/

const files = execFileSync('git', ['ls-files', ...process.argv.slice(2)], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => READ.test(file) && !SKIPPED.test(file))
const problems = files.flatMap((file) => [...badNames(file), ...badPhrases(file)])
for (const problem of problems) console.error(problem)
if (problems.length > 0) console.error(`${problems.length} in all`)
process.exitCode = problems.length > 0 ? 1 : 0

function badPhrases(file: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, i) =>
    PHRASES.flatMap(([found, better]) => {
      const match = found.exec(line)
      return match ? [`${file}:${i + 1}: "${match[0]}": write ${better}`] : []
    }),
  )
}

function badNames(file: string): string[] {
  const names = [file.split('/').at(-1) as string]
  if (/\.tsx?$/.test(file))
    for (const [, name] of readFileSync(file, 'utf8').matchAll(DECLARED)) names.push(name as string)
  return names.flatMap((name) =>
    wordsOf(name)
      .filter((word) => Object.hasOwn(NAMES, word))
      .map((word) => `${file}: the name ${name}: write ${NAMES[word]}, not "${word}"`),
  )
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
}
