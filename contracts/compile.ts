// Prints src/merkle-registry.ts: node contracts/compile.ts > contracts/src/merkle-registry.ts
// Compiling takes about two seconds, so the result is committed; a test keeps the two equal.

import { readFileSync } from 'node:fs'
import solc from 'solc'

type SolcOutput = {
  errors?: { formattedMessage: string }[]
  contracts: Record<string, Record<string, { abi: object[]; evm: { bytecode: { object: string } } }>>
}

const NAME = 'SvcMerkleRegistry'
const file = `${NAME}.sol`
const input = {
  language: 'Solidity',
  sources: { [file]: { content: readFileSync(new URL(`./src/${file}`, import.meta.url), 'utf8') } },
  settings: {
    evmVersion: 'prague',
    optimizer: { enabled: true, runs: 200 },
    // No metadata: the bytecode changes with the code, not with a comment.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { [file]: { [NAME]: ['abi', 'evm.bytecode.object'] } },
  },
}

const output = JSON.parse(solc.compile(JSON.stringify(input))) as SolcOutput
if (output.errors) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'))
const compiled = output.contracts[file]?.[NAME]
if (!compiled) throw new Error(`${file} does not contain ${NAME}`)

console.log(`// Printed by contracts/compile.ts from ${file}. Do not edit: change the contract and run that again.

// biome-ignore format: as it was printed
export const MERKLE_REGISTRY_ABI = [
${compiled.abi.map((item) => `  ${JSON.stringify(item)},`).join('\n')}
] as const

/** Deploys the registry; the deployer becomes its owner. */
export const MERKLE_REGISTRY_BYTECODE =
  '0x${compiled.evm.bytecode.object}'`)
