// Prints compiled.json. To update it, run in this folder: node compile.ts > compiled.tmp && mv compiled.tmp compiled.json
// Compiling takes about two seconds, so the chain reads the file; a test keeps the two equal.

import { readdirSync, readFileSync } from 'node:fs'
import solc from 'solc'

type SolcOutput = {
  errors?: { formattedMessage: string }[]
  contracts: Record<string, Record<string, { evm: Record<'bytecode' | 'deployedBytecode', { object: string }> }>>
}

const folder = new URL('.', import.meta.url)
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.sol'))
  .sort()
const input = {
  language: 'Solidity',
  sources: Object.fromEntries(names.map((name) => [name, { content: readFileSync(new URL(name, folder), 'utf8') }])),
  settings: {
    evmVersion: 'prague',
    optimizer: { enabled: true, runs: 200 },
    // No metadata: the bytecode changes with the code, not with a comment.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
  },
}

const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput
if (output.errors) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))

// `code` is the code at an address, `initCode` deploys it; abstract contracts have neither.
const compiled: Record<string, { code: string; initCode: string }> = {}
for (const [name, { evm }] of Object.values(output.contracts).flatMap(Object.entries)) {
  if (evm.bytecode.object === '') continue
  compiled[name] = { code: `0x${evm.deployedBytecode.object}`, initCode: `0x${evm.bytecode.object}` }
}
console.log(JSON.stringify(compiled, null, 2))
