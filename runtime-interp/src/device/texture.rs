//! Textures, surfaces and samplers.

use super::Device;
use super::buffer::Buffer;
use crate::engine::Program;
use crate::fault::{Fault, FaultCode};
use crate::memory::window;
use crate::texture::object::Object;
use crate::texture::{Image, ReferenceKind, Sampler, TEXEL_ALIGN};
use std::sync::Arc;

/// The handle of a texture, sampler or surface: a plain value, valid for the device that gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Handle(u64);

impl Handle {
    /// The handle of nothing.
    pub const NULL: Handle = Handle(0);

    /// What a kernel sees, as a value of 64 bits.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl Device {
    /// A texture of texels in a buffer, which may be that of other textures and surfaces too.
    ///
    /// ```
    /// use warpsmith_interp::texture::{ChannelType, Filter, Format, Image, Sampler};
    /// use warpsmith_interp::{Device, Launch, Program};
    /// use warpsmith_ptx::ValidatedModule;
    /// let source = "
    /// .version 7.0
    /// .target sm_80
    /// .address_size 64
    /// .visible .entry at(.param .u64 texture, .param .f32 x, .param .u64 out) {
    ///     .reg .f32 %f<5>;
    ///     .reg .b64 %rd<2>;
    ///     ld.param.u64 %rd0, [texture];
    ///     ld.param.f32 %f0, [x];
    ///     tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, {%f0}];
    ///     ld.param.u64 %rd1, [out];
    ///     st.global.f32 [%rd1], %f1;
    ///     ret;
    /// }";
    /// let program = Program::load(&ValidatedModule::parse(source)?)?;
    /// let mut device = Device::new();
    /// let texels = device.upload(&[0f32, 10.0, 20.0, 30.0])?;
    /// let image = Image::new(Format { ty: ChannelType::F32, channels: 1 }, &[4], None)?;
    /// let sampler = Sampler { filter: Filter::Linear, ..Sampler::default() };
    /// let texture = device.create_texture(texels, &image, &sampler)?;
    /// let out = device.upload(&[0f32])?;
    /// device.launch(&program, &Launch::new("at").arg(texture).arg(2.25f32).arg(out))?;
    /// assert_eq!(device.download::<f32>(out)?, [17.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_texture(
        &mut self,
        texels: Buffer,
        image: &Image,
        sampler: &Sampler,
    ) -> Result<Handle, Fault> {
        if let Err((field, message)) = sampler.check(image.format()) {
            return Err(Fault::new(FaultCode::BadTexture, format!("{field}: {message}")));
        }
        let address = self.texels(texels, image)?;
        Ok(self.create(Object::texture(image, address, sampler)))
    }

    /// A surface of texels in a buffer, which may be that of other textures and surfaces too. It has no levels beyond the base, and no samples.
    pub fn create_surface(&mut self, texels: Buffer, image: &Image) -> Result<Handle, Fault> {
        if image.samples().is_some() {
            return Err(Fault::new(FaultCode::BadTexture, "the texels of a surface have one sample"));
        }
        let address = self.texels(texels, image)?;
        Ok(self.create(Object::Surface { image: image.clone(), address }))
    }

    /// A sampler, for independent mode.
    pub fn create_sampler(&mut self, sampler: &Sampler) -> Handle {
        self.create(Object::Sampler(sampler.clone()))
    }

    /// Binds a `.texref`, `.samplerref` or `.surfref` of a program to an object, for all launches to come. A `.samplerref` may be bound to a
    /// texture, whose sampler it is then.
    pub fn bind(&mut self, program: &Program, name: &str, handle: Handle) -> Result<(), Fault> {
        let Some(reference) = program.reference(name) else {
            let names: Vec<&str> = program
                .variables
                .iter()
                .filter(|p| p.variable.reference.is_some())
                .map(|p| p.variable.name.as_str())
                .collect();
            let known = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
            return Err(Fault::launch(format!(
                "the module has no texture, sampler or surface `{name}` (references: {known})"
            )));
        };
        let found = window::object_at(handle.0).and_then(|i| self.objects.get(i)).map(Object::kind);
        let fits = match reference.kind {
            ReferenceKind::Sampler => matches!(found, Some(ReferenceKind::Sampler | ReferenceKind::Texture)),
            kind @ (ReferenceKind::Texture | ReferenceKind::Surface) => found == Some(kind),
        };
        if !fits {
            let (wanted, found) =
                (reference.kind.name(), found.map_or("foreign handle", ReferenceKind::name));
            return Err(Fault::launch(format!(
                "`{name}` is a {wanted} reference, which a {found} cannot be bound to"
            )));
        }
        self.write_variable(program, name, &handle.0.to_le_bytes())
    }

    fn create(&mut self, object: Object) -> Handle {
        Arc::make_mut(&mut self.objects).push(object);
        Handle(window::object_handle(self.objects.len() - 1))
    }

    /// The address of an image in a buffer, which must hold it.
    fn texels(&self, texels: Buffer, image: &Image) -> Result<u64, Fault> {
        self.find(texels)?;
        let bytes = u64::from(image.bytes());
        if texels.bytes < bytes {
            let message = format!("{} bytes for an image of {bytes} ({})", texels.bytes, image.describe());
            return Err(Fault::new(FaultCode::BadTexture, message));
        }
        if !texels.address.is_multiple_of(TEXEL_ALIGN) {
            let message =
                format!("texels at {:#x}, which is not a multiple of {TEXEL_ALIGN}", texels.address);
            return Err(Fault::new(FaultCode::Misaligned, message));
        }
        Ok(texels.address)
    }
}
