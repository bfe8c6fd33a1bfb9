// The checksums of an upload: the client announces an algorithm, each part has a checksum, and together they form the
// checksum of the object.

import {
  type ChecksumAlgorithm,
  type Checksums,
  type CrcAlgorithm,
  combineChecksums,
  compositeChecksum,
  readChecksums,
  startChecksum,
} from '@svc/s3/checksums'
import { s3Error } from '@svc/s3/errors'
import type { Part } from '../../../files/parts/part-store.ts'
import type { SessionFile } from '../../../files/parts/store.ts'

export interface UploadChecksum {
  algorithm: ChecksumAlgorithm
  type: 'COMPOSITE' | 'FULL_OBJECT'
}

/** The names in elements and headers. */
const NAMES: Readonly<Record<ChecksumAlgorithm, string>> = {
  crc32: 'CRC32',
  crc32c: 'CRC32C',
  crc64nvme: 'CRC64NVME',
  sha1: 'SHA1',
  sha256: 'SHA256',
}
const CRCS: readonly string[] = ['crc32', 'crc32c', 'crc64nvme']

type Headers = Readonly<Record<string, string>>

/** The checksum that CreateMultipartUpload announces; null when it announces none. */
export function readAnnounced(headers: Headers): UploadChecksum | null {
  const name = headers['x-amz-checksum-algorithm']?.toUpperCase()
  const type = readType(headers)
  if (name === undefined) {
    if (type) throw s3Error('InvalidRequest', 'x-amz-checksum-type needs x-amz-checksum-algorithm')
    return null
  }
  const algorithm = (Object.keys(NAMES) as ChecksumAlgorithm[]).find((known) => NAMES[known] === name)
  if (!algorithm) throw s3Error('InvalidRequest', `x-amz-checksum-algorithm must be one of ${Object.values(NAMES)}`)
  const usual = algorithm === 'crc64nvme' ? 'FULL_OBJECT' : 'COMPOSITE'
  const isPossible = type === null || type === usual || (type === 'FULL_OBJECT' && CRCS.includes(algorithm))
  if (!isPossible) throw s3Error('InvalidRequest', `${name} does not support checksums of type ${type}`)
  return { algorithm, type: type ?? usual }
}

function readType(headers: Headers): UploadChecksum['type'] | null {
  const type = headers['x-amz-checksum-type']?.toUpperCase()
  if (type === undefined || type === 'COMPOSITE' || type === 'FULL_OBJECT') return type ?? null
  throw s3Error('InvalidRequest', 'x-amz-checksum-type is COMPOSITE or FULL_OBJECT')
}

/** The columns of a row. */
export type Announced = Pick<SessionFile, 'checksum_algorithm' | 'checksum_type'>

export function announcedOf({ checksum_algorithm, checksum_type }: Announced): UploadChecksum | null {
  if (checksum_algorithm === null) return null
  return { algorithm: checksum_algorithm, type: checksum_type } as UploadChecksum // stored by createUpload
}

/** Whether the client sends a part's announced checksum, as a header or as a trailer. */
export function isChecksumSent(headers: Headers, file: Announced): boolean {
  const announced = announcedOf(file)
  const name = `x-amz-checksum-${announced?.algorithm}`
  return headers[name] !== undefined || headers['x-amz-trailer']?.trim().toLowerCase() === name
}

interface Checksummed {
  bytes: AsyncIterable<Buffer>
  /** Null when none was announced. Call it after the end of the bytes. */
  checksum(): string | null
}

/** Computes the announced checksum of a part, unless the client has sent it and it was verified. */
export function checksummed(
  file: SessionFile,
  bytes: AsyncIterable<Buffer>,
  sent: (() => Checksums) | null,
): Checksummed {
  const announced = announcedOf(file)
  if (!announced) return { bytes, checksum: () => null }
  const { algorithm } = announced
  if (sent) return { bytes, checksum: () => sent()[algorithm] ?? null }
  const running = startChecksum(algorithm)
  async function* updating(): AsyncGenerator<Buffer> {
    for await (const piece of bytes) {
      running.update(piece)
      yield piece
    }
  }
  return { bytes: updating(), checksum: () => running.digest() }
}

/** The checksum of the object that the parts form; null when none was announced. */
export function checksumOf(file: SessionFile, parts: readonly Part[]): string | null {
  const announced = announcedOf(file)
  if (!announced || parts.some(({ checksum }) => checksum === null)) return null
  const { algorithm, type } = announced
  const checksums = parts.map(({ checksum, size_bytes: size }) => ({ checksum: checksum!, size }))
  if (type === 'FULL_OBJECT') return combineChecksums(algorithm as CrcAlgorithm, checksums)
  return compositeChecksum(
    algorithm,
    checksums.map(({ checksum }) => checksum),
  )
}

/** Rejects a completion whose headers contain a different checksum of the object. */
export function requireSameChecksum(headers: Headers, file: SessionFile, actual: string | null): void {
  const announced = announcedOf(file)
  const type = readType(headers)
  if (type && type !== announced?.type) {
    throw s3Error('InvalidRequest', 'x-amz-checksum-type differs from the type announced when the upload was created')
  }
  for (const [algorithm, value] of Object.entries(readChecksums(headers))) {
    if (algorithm !== announced?.algorithm) {
      throw s3Error('InvalidRequest', `the upload was not created with ${algorithm} checksums`)
    }
    const isSame = value === actual || (announced.type === 'COMPOSITE' && value === actual?.replace(/-\d+$/, ''))
    if (!isSame) throw s3Error('BadDigest', `the ${algorithm} checksum that you sent does not match the parts`)
  }
}

export function checksumElements(file: Announced, checksum: string | null): Record<string, string> {
  const announced = announcedOf(file)
  return announced && checksum !== null ? { [`Checksum${NAMES[announced.algorithm]}`]: checksum } : {}
}

export function checksumHeaders(checksums: Checksums): Record<string, string> {
  return Object.fromEntries(Object.entries(checksums).map(([name, value]) => [`x-amz-checksum-${name}`, value]))
}

export function announcedElements(file: Announced): Record<string, string> {
  const announced = announcedOf(file)
  return announced ? { ChecksumAlgorithm: NAMES[announced.algorithm], ChecksumType: announced.type } : {}
}

/** The element of a part in CompleteMultipartUpload. */
export function checksumElementName(algorithm: ChecksumAlgorithm): string {
  return `Checksum${NAMES[algorithm]}`
}
