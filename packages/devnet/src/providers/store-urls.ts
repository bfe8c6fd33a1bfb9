// The settings that name stores of tests, as an operator writes them.

interface S3Store {
  url: string
  bucket: string
  credentials: { accessKeyId: string; secretAccessKey: string; region?: string }
}

/** `behind` is a prefix, options or both. */
export function s3Url({ url, bucket, credentials }: S3Store, behind = ''): string {
  const user = [credentials.accessKeyId, credentials.secretAccessKey].map(encodeURIComponent).join(':')
  return `${url.replace(/^http/, 's3+http').replace('://', `://${user}@`)}/${bucket}/${behind}`
}

/** `keyFile` is the text of one. `url` in place of the store's own: that of a proxy before it. */
export function gcsUrl(
  { url, bucket, keyFile }: { url: string; bucket: string; keyFile?: string },
  options: Record<string, string> = {},
): string {
  const all = { ...(keyFile && { credentials: keyFile }), endpoint: url, iam_endpoint: url, ...options }
  return `gs://${bucket}/?${new URLSearchParams(all)}`
}
