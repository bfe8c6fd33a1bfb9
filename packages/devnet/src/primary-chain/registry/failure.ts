// How a program fails: with the registry's own error numbers, or with those that all programs share.

const REGISTRY_ERRORS = {
  InvalidCredential: 0n,
  InvalidSchema: 1n,
  InvalidAttestation: 2n,
  InvalidSchemaDataType: 4n,
  SignerNotAuthorized: 5n,
  InvalidAttestationData: 6n,
  InvalidEventAuthority: 7n,
  InvalidTokenAccount: 10n,
  SchemaPaused: 11n,
  /** Not the registry's: the stand-in does not support this. */
  NotInStandIn: 1000n,
} as const

const SHARED_ERRORS = {
  InvalidInstructionData: 3n,
  InvalidAccountData: 4n,
  IncorrectProgramId: 7n,
  MissingRequiredSignature: 8n,
  NotEnoughAccountKeys: 11n,
  InvalidAccountOwner: 23n,
  IncorrectAuthority: 26n,
} as const

const CUSTOM_ZERO = 1n << 32n

/** `Panic` aborts the program; the runtime reports ProgramFailedToComplete. */
export type FailureName = keyof typeof REGISTRY_ERRORS | keyof typeof SHARED_ERRORS | 'Panic'

export class ProgramFailure extends Error {
  override name = 'ProgramFailure'
  readonly failure: FailureName

  constructor(failure: FailureName, message: string) {
    super(message)
    this.failure = failure
  }
}

/** The program's return value: a custom error in the lower half, a shared one in the upper. */
export function resultOf(failure: Exclude<FailureName, 'Panic'>): bigint {
  if (failure in SHARED_ERRORS) return SHARED_ERRORS[failure as keyof typeof SHARED_ERRORS] << 32n
  return REGISTRY_ERRORS[failure as keyof typeof REGISTRY_ERRORS] || CUSTOM_ZERO
}
