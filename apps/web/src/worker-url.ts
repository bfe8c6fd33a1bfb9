// Browsers that enforce trusted types do not start a worker from a plain string: pages with a worker use this policy.

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('svc-worker', { createScriptURL: (url) => url })

/** Use only for addresses of our own files. The return type is what `new Worker` accepts. */
export const trustedWorkerUrl = (url: URL): string => policy?.createScriptURL(url.href) ?? url.href
