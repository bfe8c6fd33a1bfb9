import { importBundled } from "file:///work/main/packages/http-service/src/bundle.ts"
await importBundled(new URL('program.ts', import.meta.url))
