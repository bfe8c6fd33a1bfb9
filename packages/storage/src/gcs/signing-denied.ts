import { ProviderError } from '../provider.ts'

/** The account may not sign addresses, which clients are told by a code of its own (FILE-35). */
export class SigningDenied extends ProviderError {
  constructor(cause: unknown) {
    super('closed', cause)
  }
}
