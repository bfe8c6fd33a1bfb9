import { ServiceError } from '@svc/service/service-error'

export function emptyFileList(): ServiceError {
  return new ServiceError('EMPTY_FILE_LIST', 'cannot attest an empty file list', {
    hint: 'upload a file and confirm it with POST /v1/files/confirm, then attest',
  })
}

/** A locker may have a million files. */
const MAX_FILENAMES = 100

export function bytesChanged(filenames: readonly string[]): ServiceError {
  return new ServiceError('CONTENT_HASH_CHANGED', 'the bytes of some files differ from the confirmed ones', {
    hint: 'upload these files again and confirm them, or delete them; nothing was attested',
    details: { filenames: filenames.slice(0, MAX_FILENAMES), count: filenames.length },
  })
}

export function notAttested(receiptId: string, { isPending }: { isPending: boolean }): ServiceError {
  return new ServiceError('attestation_not_available', 'there is no attestation of this receipt yet', {
    hint: attestationHint(receiptId, isPending),
  })
}

export function attestationHint(receiptId: string, isPending: boolean): string {
  return isPending
    ? 'the attestation is being computed: try again in a few seconds'
    : `no attestation yet: POST /v1/storage/attest?receipt_id=${encodeURIComponent(receiptId)}`
}
