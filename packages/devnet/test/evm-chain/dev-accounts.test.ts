import { getAddress, keccak256, slice, toHex } from 'viem'
import { mnemonicToAccount, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { TOKENS } from '../../src/evm-chain/contracts.ts'
import {
  DEV_AGENT_TREASURY,
  DEV_MINTER,
  DEV_MNEMONIC,
  DEV_PAYERS,
  DEV_TREASURY,
} from '../../src/evm-chain/dev-accounts.ts'

test('the EVM development accounts are derived from the development mnemonic, in order', { tags: ['nightly'] }, () => {
  const accounts = [...DEV_PAYERS, DEV_MINTER, DEV_TREASURY, DEV_AGENT_TREASURY]
  for (const [addressIndex, { address, privateKey }] of accounts.entries()) {
    expect(mnemonicToAccount(DEV_MNEMONIC, { addressIndex }).address).toBe(address)
    expect(privateKeyToAddress(privateKey)).toBe(address)
  }
})

test('the addresses of the EVM test tokens are derived from their tickers', () => {
  for (const ticker of ['USDT0', 'WETH'] as const) {
    const derived = getAddress(slice(keccak256(toHex(`svc dev token ${ticker}`)), 12))
    expect(TOKENS[ticker].address).toBe(derived)
  }
})
