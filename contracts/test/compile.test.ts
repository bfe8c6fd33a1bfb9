import { readFileSync } from 'node:fs'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it } from 'vitest'

it('compiling the Merkle registry gives the committed module, byte for byte', { tags: ['nightly'] }, async () => {
  const script = new URL('../compile.ts', import.meta.url)
  const { stdout, stderr } = await startProcess(script).ended
  expect(stdout, stderr).toBe(readFileSync(new URL('../src/merkle-registry.ts', import.meta.url), 'utf8'))
})
