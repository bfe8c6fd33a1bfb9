// The rules of the registry's instructions about credentials.

import { getAddressDecoder, getStructDecoder } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { addressBytes, credentials, deriveAddress, makeAccount, sizedBytes } from './accounts.ts'
import {
  listDecoder,
  nameAccounts,
  type Rule,
  readParameters,
  requireAddress,
  requireAuthority,
  requireOwned,
  requireProgram,
  requireSigner,
  requireVacant,
  requireWritable,
} from './instruction.ts'
import { resize, transfer, writeData } from './program/effects.ts'

const newCredentialDecoder = getStructDecoder([
  ['name', sizedBytes()],
  ['signers', listDecoder(getAddressDecoder())],
])

export const createCredential: Rule = ({ accounts, parameters }, { rentFor }) => {
  const { name, signers } = readParameters(newCredentialDecoder, parameters)
  const { payer, credential, authority, system } = nameAccounts(accounts, 'payer', 'credential', 'authority', 'system')
  requireVacant(credential)
  requireSigner(authority)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  const derived = deriveAddress('credential', addressBytes(authority.address), Uint8Array.from(name))
  requireAddress(credential, derived.address, 'InvalidCredential')
  const data = credentials.encode({ authority: authority.address, name, authorizedSigners: signers })
  return makeAccount(payer, credential, derived, data, rentFor)
}

const signersDecoder = listDecoder(getAddressDecoder())

/** A longer list costs more rent; a shorter one refunds nothing. */
export const changeAuthorizedSigners: Rule = ({ accounts, parameters }, { rentFor }) => {
  const authorizedSigners = readParameters(signersDecoder, parameters)
  const { payer, authority, credential, system } = nameAccounts(accounts, 'payer', 'authority', 'credential', 'system')
  requireSigner(authority)
  requireProgram(system, SYSTEM_PROGRAM_ADDRESS)
  requireOwned(credential)
  requireWritable(credential)
  const fields = credentials.decode(credential)
  requireAuthority(authority, fields.authority)
  const data = credentials.encode({ ...fields, authorizedSigners })
  const missingRent = rentFor(data.length) - credential.lamports
  return [
    ...resize(credential, data.length),
    ...(missingRent > 0n ? transfer(payer, credential, missingRent, data.length) : []),
    ...writeData(credential, data),
  ]
}
