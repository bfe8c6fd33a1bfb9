// Reads what a client signed (EIP-712) for the provider to send to the contract, and recovers the signer.

import { type Address, decodeAbiParameters, type Hex, recoverTypedDataAddress, toHex } from 'viem'

export interface Domain {
  chainId: number
  verifyingContract: Address
}

const TYPES = {
  MetadataEntry: [
    { name: 'key', type: 'string' },
    { name: 'value', type: 'string' },
  ],
  CreateDataSet: [
    { name: 'clientDataSetId', type: 'uint256' },
    { name: 'payee', type: 'address' },
    { name: 'metadata', type: 'MetadataEntry[]' },
  ],
  Cid: [{ name: 'data', type: 'bytes' }],
  PieceMetadata: [
    { name: 'pieceIndex', type: 'uint256' },
    { name: 'metadata', type: 'MetadataEntry[]' },
  ],
  AddPieces: [
    { name: 'clientDataSetId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'pieceData', type: 'Cid[]' },
    { name: 'pieceMetadata', type: 'PieceMetadata[]' },
  ],
} as const

const domainOf = (domain: Domain) => ({ name: 'FilecoinWarmStorageService', version: '1', ...domain })

export async function readCreation(extraData: Hex, payee: Address, domain: Domain) {
  const types = [
    { type: 'address' },
    { type: 'uint256' },
    { type: 'string[]' },
    { type: 'string[]' },
    { type: 'bytes' },
  ]
  const [payer, clientDataSetId, keys, values, signature] = decodeAbiParameters(types, extraData) as [
    Address,
    bigint,
    string[],
    string[],
    Hex,
  ]
  const signer = await recoverTypedDataAddress({
    domain: domainOf(domain),
    types: TYPES,
    primaryType: 'CreateDataSet',
    message: { clientDataSetId, payee, metadata: entriesOf(keys, values) },
    signature,
  })
  return { payer, clientDataSetId, signer }
}

export async function readAddition(
  extraData: Hex,
  clientDataSetId: bigint,
  pieces: readonly Uint8Array[],
  domain: Domain,
) {
  const types = [{ type: 'uint256' }, { type: 'string[][]' }, { type: 'string[][]' }, { type: 'bytes' }]
  const [nonce, keys, values, signature] = decodeAbiParameters(types, extraData) as [
    bigint,
    string[][],
    string[][],
    Hex,
  ]
  const signer = await recoverTypedDataAddress({
    domain: domainOf(domain),
    types: TYPES,
    primaryType: 'AddPieces',
    message: {
      clientDataSetId,
      nonce,
      pieceData: pieces.map((piece) => ({ data: toHex(piece) })),
      pieceMetadata: pieces.map((_, i) => ({
        pieceIndex: BigInt(i),
        metadata: entriesOf(keys[i] ?? [], values[i] ?? []),
      })),
    },
    signature,
  })
  return { nonce, signer }
}

function entriesOf(keys: readonly string[], values: readonly string[]) {
  return keys.map((key, i) => ({ key, value: values[i] ?? '' }))
}
