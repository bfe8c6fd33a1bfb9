import { ProviderError } from '../provider.ts'

/** Any answer of a provider but those that were hoped for. */
export class HttpRefusal extends ProviderError {
  readonly status: number

  constructor(reason: ProviderError['reason'], status: number, cause: Error) {
    super(reason, cause)
    this.status = status
  }
}
