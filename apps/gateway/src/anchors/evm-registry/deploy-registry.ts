import type { EvmAccount, SignedTransaction } from '@svc/chains/evm/account'
import { MERKLE_REGISTRY_BYTECODE } from '@svc/contracts/merkle-registry'
import { type Address, getContractAddress, parseTransaction } from 'viem'

/** A transaction, not sent yet, that creates a registry owned by the account, and the address it will have. */
export async function prepareDeployment(account: EvmAccount): Promise<SignedTransaction & { contract: Address }> {
  const call = { data: MERKLE_REGISTRY_BYTECODE } as const
  const signed = await account.sign({ ...call, ...(await account.costs(call)) })
  const { nonce = 0 } = parseTransaction(signed.raw)
  return { ...signed, contract: getContractAddress({ from: account.address, nonce: BigInt(nonce) }) }
}
