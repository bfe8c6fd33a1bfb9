// The documents of the repository and the commands in them.

import { globSync, readFileSync } from 'node:fs'
import { DOCUMENTS } from '../scripts/spec/links.ts'

const SHELLS = ['bash', 'sh']

interface Fence {
  language: string
  /** The line where the fence begins. */
  line: number
  code: string
  /** The comment `<!-- … -->` on the line before the fence. */
  mark: string | null
}

export interface Document {
  path: string
  text: string
  /** The fences that this test runs, in order. */
  commands: Fence[]
  /** The fences that another test runs, or no test, and why. */
  marked: string[]
  /** Commands that a reader sees but no test runs. */
  hidden: string[]
}

export function readDocuments(root: URL): Document[] {
  return globSync(DOCUMENTS, { cwd: root })
    .sort()
    .map((path) => readDocument(path, readFileSync(new URL(path, root), 'utf8')))
}

function readDocument(path: string, text: string): Document {
  const fences = fencesOf(text)
  const shell = fences.filter(({ language }) => SHELLS.includes(language))
  return {
    path,
    text,
    commands: shell.filter(({ mark }) => mark === null),
    marked: shell.filter(({ mark }) => mark !== null).map(({ mark }) => `${path}: ${mark}`),
    hidden: fences.filter(isHidden).map(({ line }) => `${path}:${line}`),
  }
}

function fencesOf(text: string): Fence[] {
  const fences: Fence[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w*)$/.exec(lines[at] as string)?.[1]
    if (language === undefined) continue
    const end = lines.indexOf('```', at + 1)
    const mark = /^<!-- (.+) -->$/.exec(lines[at - 1] ?? '')?.[1] ?? null
    fences.push({ language, line: at + 1, mark, code: lines.slice(at + 1, end).join('\n') })
    at = end
  }
  return fences
}

/** A program may contain such words; plain text that begins with one is a command. */
function isHidden({ language, code }: Fence): boolean {
  return ['', 'text', 'console', 'shell'].includes(language) && /^(?:\$ |npm |npx |svc |curl |node )/m.test(code)
}
