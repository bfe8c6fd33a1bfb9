import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('compiling the Merkle registry gives the committed module, byte for byte', { tags: ['nightly'] }, () => {
  const script = new URL('../compile.ts', import.meta.url).pathname
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' })
  expect(printed).toBe(readFileSync(new URL('../src/merkle-registry.ts', import.meta.url), 'utf8'))
})
