// What the settings of the editor mean for the server. Knows nothing of VS Code, so that it can be tested without it.

/** The settings under `purlin.`. */
export interface Settings {
  path: string;
  arguments: string[];
  environment: string;
  profiles: string[];
  inlayHints: boolean;
}

/** Reads settings, each with its default where it is missing or of the wrong type. */
export function readSettings(get: (key: string) => unknown): Settings {
  const text = (key: string, fallback: string): string => {
    const value = get(key);
    return typeof value === "string" ? value : fallback;
  };
  const list = (key: string): string[] => {
    const value = get(key);
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
  };
  return {
    path: text("path", "") || "purlin",
    arguments: list("arguments"),
    environment: text("environment", ""),
    profiles: list("profiles"),
    inlayHints: get("inlayHints") === true,
  };
}

/** The same with the program of the package, unless the user has named one. */
export function withBundled(settings: Settings, bundled: string | undefined): Settings {
  return settings.path === "purlin" && bundled !== undefined ? { ...settings, path: bundled } : settings;
}

/** The arguments that the server is started with. */
export function serverArguments(settings: Settings): string[] {
  return [...settings.arguments, "lsp"];
}

/** What the server is told when it starts, and when settings change. */
export function serverOptions(settings: Settings): object {
  const { environment, profiles, inlayHints } = settings;
  return { purlin: { environment, profiles, inlayHints } };
}

/** The files that the server knows. */
export const DOCUMENTS = [
  { scheme: "file", pattern: "**/*.{yaml,yml,tpl}" },
  { scheme: "file", pattern: "**/templates/**/*.{txt,json}" },
];
