# Template: a release replaces VERSION, REPOSITORY and the checksums (`*.tar.gz.sha256`).
class Purlin < Formula
  desc "Resolves Garden, Skaffold, TOSCA, Unfurl and Helm configuration, and says where each value comes from"
  version "VERSION"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "REPOSITORY/releases/download/vVERSION/purlin-VERSION-aarch64-apple-darwin.tar.gz"
      sha256 "SHA256_AARCH64_APPLE_DARWIN"
    end
    on_intel do
      url "REPOSITORY/releases/download/vVERSION/purlin-VERSION-x86_64-apple-darwin.tar.gz"
      sha256 "SHA256_X86_64_APPLE_DARWIN"
    end
  end

  on_linux do
    on_arm do
      url "REPOSITORY/releases/download/vVERSION/purlin-VERSION-aarch64-unknown-linux-musl.tar.gz"
      sha256 "SHA256_AARCH64_UNKNOWN_LINUX_MUSL"
    end
    on_intel do
      url "REPOSITORY/releases/download/vVERSION/purlin-VERSION-x86_64-unknown-linux-musl.tar.gz"
      sha256 "SHA256_X86_64_UNKNOWN_LINUX_MUSL"
    end
  end

  def install
    bin.install "purlin"
    generate_completions_from_executable(bin/"purlin", "completions")
    (man1/"purlin.1").write Utils.safe_popen_read(bin/"purlin", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/purlin --version")
    (testpath/"Chart.yaml").write "apiVersion: v2\nname: web\nversion: 1.0.0\n"
    system bin/"purlin", "check"
  end
end
