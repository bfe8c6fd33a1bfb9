// Reads the tables of docs/spec: one row for each requirement, `| id | meaning | code |`. The last column of a requirement
// that is not implemented yet is `planned`.

import { globSync, readFileSync } from 'node:fs'

export interface Requirement {
  id: string
  file: string
  isPlanned: boolean
}

const ROW = /^\| ([A-Z]+-\d{2,3}) \| \S.* \| (\S.*) \|$/

/** The files that may name a requirement: sources, tests and documents. */
const NAMING = [
  '{packages,apps}/*/{src,test}/**/*.{ts,md}',
  '{bench,fuzz,contracts,model}/{src,test}/**/*.{ts,sol}',
  '{acceptance,contracts}/*.{ts,md}',
  '{packages,apps}/*/*.md',
  'docs/**/*.md',
  'scripts/**/*.{ts,mjs}',
  '{*.md,.env.example}',
]

export function readRequirements(): { requirements: Map<string, Requirement>; families: string; problems: string[] } {
  const requirements = new Map<string, Requirement>()
  const problems: string[] = []
  for (const file of globSync('docs/spec/*.md').sort()) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (!/^\| [A-Z]+-\d/.test(line)) continue
      const [, id, code] = ROW.exec(line) ?? []
      if (!id || !code) {
        problems.push(`${file}: a row is not "| id | meaning | code |": ${line.slice(0, 60)}`)
        continue
      }
      const other = requirements.get(id)
      if (other) problems.push(`${file}: ${id} is also defined in ${other.file}`)
      const isPlanned = code === 'planned'
      if (!isPlanned && !/\]\(/.test(code)) problems.push(`${file}: ${id} links no code and is not "planned"`)
      requirements.set(id, { id, file, isPlanned })
    }
  }
  const families = [...new Set([...requirements.keys()].map((id) => id.split('-')[0] as string))].sort().join('|')
  return { requirements, families, problems }
}

export function mentionedIds(families: string): { id: string; file: string }[] {
  const pattern = new RegExp(`(?<![\\w-])(?:${families})-\\d{2,3}(?!\\w)`, 'g')
  return globSync(NAMING).flatMap((file) => {
    const found = readFileSync(file, 'utf8').match(pattern)
    return [...new Set(found)].map((id) => ({ id, file }))
  })
}
